module chronoscope/bench

go 1.26.0

require chronoscope v0.0.0

require (
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	github.com/loov/hrtime v1.0.3
	golang.org/x/sys v0.49.0 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace chronoscope => ../
