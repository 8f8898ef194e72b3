# What compilers before LLVM 10 wrote: functions without a type and size, labels kept as symbols,
# static functions called without a relocation.
	.section	xdp_drop,"ax",@progbits
	.globl	first
first:
	r1 = counters ll
	if r1 == 0 goto LBB0_1
	call local
LBB0_1:
	r0 = 1
	exit
local:
	r0 = 7
	exit
	.globl	second
second:
	call shared
	exit
	.section	.text,"ax",@progbits
	.globl	shared
shared:
	r0 = 2
	exit
	.section	maps,"aw",@progbits
	.globl	counters
counters:
	.long	2
	.long	4
	.long	8
	.long	16
	.long	0
	.section	license,"aw",@progbits
	.ascii	"GPL\0"
