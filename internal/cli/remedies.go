package cli

import "chronoscope/remedy"

// flagsOf maps remedies to the flags, or commands, by which a user of this program applies them.
var flagsOf = map[remedy.Code]string{
	remedy.MaxTime: "--max-time", remedy.MaxRuns: "--max-runs", remedy.Runs: "--runs", remedy.Warmup: "--warmup", remedy.Prepare: "--prepare",
	remedy.Output: "--program-output inherit", remedy.IgnoreFailure: "--ignore-failure", remedy.CPUs: "--cpu", remedy.Nice: "--nice",
	remedy.Benchmarks: "--bench", remedy.Timeout: "--timeout", remedy.Restart: "--restart", remedy.KeepBusy: "--keep-busy",
	remedy.InTurn:    "chronoscope run A B and bench --against",
	remedy.Published: "chronoscope clocks --set kuperberg2011",
}

func init() { remedy.Words = func(c remedy.Code) string { return flagsOf[c] } }
