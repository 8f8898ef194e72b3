"""Shows that the proofs can fail: breaks the RTL in one place at a time and looks for a counterexample.

    .venv/bin/python formal/common/mutants.py [NAME ...]    # a name is a part of a proof's or a file's name

Each mutant runs as a bounded check from reset, so that a failure is a trace that can happen and not
a weakness of the induction. Only the claims about the ports are checked: what stands after the
harness's "Strengthening" line and the RTL's own assertions know the inside too well to count.
Exits non-zero if a mutant survives.
"""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / ".cache" / "formal" / "mutants"
DEPTH = 16

# proof, task, file in rtl/common, what stands there, what it becomes
MUTANTS = [
    ("fifo", "depth5", "fifo", "ptr == ptr_t'(Depth - 1)", "ptr == ptr_t'(Depth - 2)"),
    ("fifo", "depth5", "fifo", "ready_o = level_q != level_t'(Depth)", "ready_o = 1'b1"),
    ("fifo", "depth5", "fifo", "if (take) rd_ptr_q", "if (take && !put) rd_ptr_q"),
    ("skid", "prove", "skid", "data_q <= ready_q ? data_i : skid_q", "data_q <= data_i"),
    ("skid", "prove", "skid", "if (ready_q) skid_q", "skid_q"),
    ("skid", "prove", "skid", "valid_q <= valid_i || !ready_q", "valid_q <= valid_i"),
    ("axis_register", "prove", "axis_register", "last: s_axis_tlast", "last: s_axis_tlast && s_axis_tkeep[0]"),
    ("axis_register", "prove", "skid", "advance = !valid_q || ready_i", "advance = ready_i"),
    ("fifo_ram", "depth5", "fifo_ram", "ready_o = level_q != level_t'(Depth)", "ready_o = level_q - level_t'(valid_o) != level_t'(Depth)"),
    ("fifo_ram", "depth5", "fifo_ram", "if (read) ram_data_q", "ram_data_q"),
    ("fifo_ram", "depth5", "ram_prefetch", "if (out_advance) out_q", "out_q"),
    ("fifo_ram", "depth5", "ram_prefetch", "ram_advance = !ram_valid_q || out_advance", "ram_advance = out_advance"),
    ("fifo_ram", "depth5", "ram_prefetch", "read_o = read_anyway || (read_if_taken && ready_i)", "read_o = unread_i"),
    ("packet_fifo", "depth5", "packet_fifo", "!fits || (last_i && drop_i)", "!fits"),
    ("packet_fifo", "depth5", "packet_fifo", "slot_free = used_q != level_t", "slot_free = level_q != level_t"),
    ("packet_fifo", "depth5", "packet_fifo", "commit ? used_q + level_t'(1)", "commit ? used_q"),
    ("packet_fifo", "depth5", "packet_fifo", "unread = rd_ptr_q != commit_ptr_q", "unread = rd_ptr_q != wr_ptr_q"),
    ("packet_fifo", "depth5", "packet_fifo", "lost_q <= !last_i && !fits", "lost_q <= 1'b0"),
    ("packet_fifo", "depth5", "packet_fifo", "lost_q <= !last_i && !fits", "lost_q <= !fits"),
    ("packet_fifo", "depth5", "packet_fifo", "slot_free && (desc_ready || !last_i)", "slot_free"),
    ("packet_fifo", "depth5", "packet_fifo", "'{wrap: !ptr.wrap, index: '0}", "'{wrap: ptr.wrap, index: '0}"),
    ("packet_fifo", "depth5", "packet_fifo", "roll_back ? level_q", "(roll_back && !lost_q && last_i) ? level_q"),
    ("axis_width_down", "from6to2", "axis_width", "user = first_q ? s_axis_tuser : user_q", "user = s_axis_tuser"),
    ("axis_width_down", "from6to2", "axis_narrow", "if (!s_axis_tlast || s_axis", "if (s_axis_tlast || s_axis"),
    ("axis_width_down", "from6to2", "axis_narrow", "beat.last && finish", "beat.last"),
    ("axis_width_down", "from6to2", "axis_narrow", "m_axis_tready && finish", "finish"),
    ("axis_width_down", "from6to2_bad_keep", "axis_narrow", "finish = seg_q == beat.final_seg", "finish = &seg_q"),
    ("axis_width_up", "from2to6", "axis_width", "first_q <= s_axis_tlast", "first_q <= 1'b1"),
    ("axis_width_up", "from2to6", "axis_widen", "complete = s_axis_tlast || ", "complete = "),
    ("axis_width_up", "from2to6", "axis_widen", "take = s_axis_tvalid && s_axis_tready", "take = s_axis_tvalid"),
    ("axis_width_up", "from2to6", "axis_widen", "if (take && seg_q == seg_t'(k))", "if (take)"),
    ("axis_width_up", "from2to6", "axis_widen", "= (seg_q == seg_t'(k)) ? s_axis_tkeep : '0", "= s_axis_tkeep"),
    ("prio_enc", "width5", "prio_enc", "any[n] = |of", "any[n] = |of[2:0]"),
    ("prio_enc", "width5", "prio_enc", "{!of[0] && !of[1] &&", "{!of[0] &&"),
    ("crc32c", "bytes4", "crc32c", "32'h82F6_3B78", "32'h82F6_3B79"),
    ("crc32c", "bytes4", "crc32c", "return ~crc;", "return crc;"),
    ("ram_sp", "prove", "ram_sp", "else rdata_o <=", "rdata_o <="),
    ("ram_dp", "prove", "ram_dp", "b_rdata_o <= mem[b_addr_i]", "b_rdata_o <= a_we_i ? a_wdata_i : mem[b_addr_i]"),
    ("ram_1r1w", "prove", "ram_1r1w", "if (wr_en_i[l])", "if (wr_en_i[0])"),
    ("ram_lut", "prove", "ram_lut", "mem[raddr_i[p]]", "mem[raddr_i[0]]"),
    ("cam_reg", "prove", "cam_reg", "valid_q[e] && key_q", "key_q"),
    ("cam_reg", "prove", "cam_reg", "valid_q[e] <= wr_valid_i", "valid_q[e] <= 1'b1"),
    ("arb_rr", "requests4", "arb_rr", "advance_i ? at_or_above & ~grant_o : at_or_above", "at_or_above & ~grant_o"),
    ("arb_rr", "requests4", "arb_rr", "advance_i ? at_or_above & ~grant_o : at_or_above", "'1"),
    ("arb_drr", "quantum5", "arb_drr", "holder_q & req_i & positive", "holder_q & req_i"),
    ("arb_drr", "quantum5", "arb_drr", "(start && passed_over[i]) || (idle", "(idle"),
    ("arb_drr", "quantum2", "arb_drr", ": behind_holder | below_next", ": behind_holder"),
    ("arb_drr", "quantum5", "arb_drr", "start = !hold_i && !keep", "start = !keep"),
    ("arb_drr", "quantum5", "arb_drr", "(found || sole)", "found"),
    ("arb_drr", "quantum2", "arb_drr", "found ? raised[i] : QuantumBalance", "QuantumBalance"),
    ("counter_bank", "prove", "counter_bank", "if (write.valid && write.index == add_index_q)", "if (1'b0)"),
    ("counter_bank", "prove", "counter_bank", "if (written_q.valid && written_q.index == add_index_q)", "if (1'b0)"),
    ("counter_bank", "prove", "counter_bank", ".rd_addr_i(rd2_index_q)", ".rd_addr_i(rd1_index_q)"),
    ("counter_bank", "prove", "counter_bank", "choose_epoch_q    <= write_epoch_q", "choose_epoch_q    <= add_epoch_q"),
    ("counter_bank", "prove", "counter_bank", "(Triples + 1)'(choose_snapshot_q)", "(Triples + 1)'(1'b1)"),
    ("token_bucket", "prove", "token_bucket", "if (charge && dec_index_q == add_index_q)", "if (1'b0)"),
    ("token_bucket", "prove", "token_bucket", "if (dec_clear_q && dec_clear_index_q == add_index_q)", "if (1'b0)"),
    ("token_bucket", "prove", "token_bucket", "{add_limit_q, FracWidth'(1)}", "{add_limit_q, FracWidth'(0)}"),
    ("token_bucket", "prove", "token_bucket", "charge = dec_valid_q && conform", "charge = dec_valid_q"),
    ("token_bucket", "prove", "token_bucket", "ahead_of_now[TatWidth-1]", "(dec_tat_q < dec_now_q)"),
    ("token_bucket", "prove", "token_bucket", "used_q & recent_q", "used_q"),
    ("token_bucket", "prove", "token_bucket", "used_q & recent_q", "'0"),
    ("token_bucket", "prove", "token_bucket", "[dec_index_q] <= !add_quarter_q", "[dec_index_q] <= 1'b1"),
    ("token_bucket", "prove", "token_bucket", "[dec_index_q] <= !add_quarter_q", "[dec_index_q] <= 1'b0"),
    ("token_bucket", "prove", "token_bucket", "!add_quarter_q || recent_q[add_index_q]", "1'b1"),
    ("token_bucket", "prove", "token_bucket", "quarter_q <= mul_now_q", "quarter_q <= mul_valid_q && mul_now_q"),
    ("token_bucket", "prove", "token_bucket", "-1-:2] != add_now_q[TimeWidth-1-:2]", "-1] != add_now_q[TimeWidth-1]"),
    ("tcam_lut", "synthesis", "tcam_lut", "wr_entry_valid_i && last_step;", "wr_entry_valid_i;"),
    ("tcam_lut", "synthesis", "tcam_lut", "^ wr_value) & wr_mask;", "^ wr_value);"),
]  # fmt: skip


def survives(number: int) -> bool:
    """Runs one mutant; True if no claim failed."""
    proof, task, file, old, new = MUTANTS[number]
    folder = WORK / str(number)
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("formal/common", "rtl/common"):
        shutil.copytree(ROOT / part, folder / part)
    path = folder / "rtl" / "common" / f"sluice_{file}.sv"
    text = path.read_text()
    if old not in text:
        sys.exit(f"mutants.py: {path.name} has no {old!r}; the list is stale")
    path.write_text(text.replace(old, new, 1))
    harness = folder / "formal" / "common" / f"{proof}.sv"
    claims, strengthening = harness.read_text().split("// Strengthening", 1)
    harness.write_text(claims + "// Strengthening" + strengthening.replace("assert property", "cover property"))
    script = harness.with_suffix(".sby")
    text = script.read_text().replace("prove: mode prove", "prove: mode bmc").replace("--no-synthesis-define ", "-D PROOF ")
    script.write_text(re.sub(r"prove: depth \d+", f"prove: depth {DEPTH}", text))
    log = subprocess.run(["nice", "sby", "-f", "-d", "run", script.relative_to(folder), task], cwd=folder, text=True,
                         capture_output=True)  # fmt: skip
    status = (folder / "run" / "status").read_text().split()[0]
    failed = sorted({line.split("failed assertion ")[1].split(" at ")[0] for line in log.stdout.splitlines()
                     if "failed assertion " in line})  # fmt: skip
    print(f"{proof:<16} sluice_{file}: {old!r} -> {new!r}: {status} {', '.join(failed)}", flush=True)
    if status == "ERROR":
        sys.exit(log.stdout[-2000:])
    return status != "FAIL"


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    wanted = [
        number
        for number, (proof, _, file, *_) in enumerate(MUTANTS)
        if not sys.argv[1:] or any(name in proof or name in file for name in sys.argv[1:])
    ]
    with ThreadPoolExecutor(2) as pool:
        survivors = sum(pool.map(survives, wanted))
    print(f"mutants: {len(wanted) - survivors} of {len(wanted)} found")
    sys.exit(1 if survivors or not wanted else 0)


if __name__ == "__main__":
    main()
