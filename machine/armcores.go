package machine

// armCore identifies a core's design by the fields Implementer and PartNum of
// MIDR_EL1 (Arm Architecture Reference Manual, D24.2).
type armCore struct{ implementer, part uint64 }

// armImplementers and armCores name the implementers and cores of machines that are used for
// measurements, with the numbers of the kernel's arch/arm64/include/asm/cputype.h.
var armImplementers = map[uint64]string{
	0x41: "Arm",
	0x42: "Broadcom",
	0x43: "Cavium",
	0x46: "Fujitsu",
	0x48: "HiSilicon",
	0x4e: "NVIDIA",
	0x50: "Applied Micro",
	0x51: "Qualcomm",
	0x53: "Samsung",
	0x61: "Apple",
	0x6d: "Microsoft",
	0xc0: "Ampere",
}

var armCores = map[armCore]string{
	{0x41, 0xd03}: "Cortex-A53",
	{0x41, 0xd04}: "Cortex-A35",
	{0x41, 0xd05}: "Cortex-A55",
	{0x41, 0xd07}: "Cortex-A57",
	{0x41, 0xd08}: "Cortex-A72",
	{0x41, 0xd09}: "Cortex-A73",
	{0x41, 0xd0a}: "Cortex-A75",
	{0x41, 0xd0b}: "Cortex-A76",
	{0x41, 0xd0c}: "Neoverse-N1",
	{0x41, 0xd0d}: "Cortex-A77",
	{0x41, 0xd40}: "Neoverse-V1",
	{0x41, 0xd41}: "Cortex-A78",
	{0x41, 0xd44}: "Cortex-X1",
	{0x41, 0xd46}: "Cortex-A510",
	{0x41, 0xd47}: "Cortex-A710",
	{0x41, 0xd48}: "Cortex-X2",
	{0x41, 0xd49}: "Neoverse-N2",
	{0x41, 0xd4d}: "Cortex-A715",
	{0x41, 0xd4e}: "Cortex-X3",
	{0x41, 0xd4f}: "Neoverse-V2",
	{0x41, 0xd80}: "Cortex-A520",
	{0x41, 0xd81}: "Cortex-A720",
	{0x41, 0xd82}: "Cortex-X4",
	{0x41, 0xd84}: "Neoverse-V3",
	{0x41, 0xd8e}: "Neoverse-N3",
	{0x46, 0x001}: "A64FX",
	{0x48, 0xd01}: "Kunpeng-920",
	{0xc0, 0xac3}: "Ampere-1",
	{0xc0, 0xac4}: "Ampere-1a",
}
