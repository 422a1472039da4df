module chronoscope/bench

go 1.26.0

require chronoscope v0.0.0

require github.com/loov/hrtime v1.0.3 // indirect

replace chronoscope => ../
