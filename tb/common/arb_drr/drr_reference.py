"""The rules of sluice_arb_drr, one cycle at a time, in plain integers."""


class Drr:
    def __init__(self, requests: int, quantum: int, lowest: int):
        self.count, self.quantum, self.lowest = requests, quantum, lowest
        self.balance = [0] * requests
        self.holder = requests - 1
        self.granted: int | None = None

    def turn(self, requests: set[int], hold: bool) -> int | None:
        """Moves the turn, if it ends, and returns who is granted in this cycle."""
        holder, balance = self.holder, self.balance
        in_order = [i % self.count for i in range(holder + 1, holder + 1 + self.count) if i % self.count in requests]
        goes_on = holder in requests and balance[holder] > 0
        able = [i for i in in_order if balance[i] + self.quantum > 0]
        self.granted = holder if hold or goes_on else None
        if not goes_on and not able:
            if len(in_order) == 1 and not hold:
                self.granted = in_order[0]
                balance[self.granted] = self.quantum
            else:
                for i in in_order:
                    balance[i] += self.quantum
        elif not goes_on and not hold:
            self.granted = able[0]
            for i in in_order[: in_order.index(able[0]) + 1]:
                balance[i] += self.quantum
        for i in range(self.count):
            if i not in requests and not (hold and i == holder):
                balance[i] = min(balance[i], 0)
        if self.granted is not None:
            self.holder = self.granted
        return self.granted

    def charge(self, cost: int) -> None:
        if self.granted is not None:
            self.balance[self.granted] = max(self.balance[self.granted] - cost, self.lowest)
