// What a top with two engines in line needs beside sluice_shell.f: tokens from one to the next. It has a sluice_fifo and a sluice_fifo_ram, which are of
// rtl/common. Paths are relative to this file: read it with -F.
sluice_shell_handover.sv
