package record

import (
	"encoding/json"
	"fmt"
	"testing"

	"chronoscope/bytecode"
	"chronoscope/machine"
	"chronoscope/stats"
)

// The time of a compiled instruction may be negative, after the overhead is subtracted. Such a
// document can be read.
func TestBytecodeBelowZeroIsRead(t *testing.T) {
	r := &bytecode.Result{Mode: bytecode.C2, Judgement: stats.NewJudgement()}
	for i, ns := range []float64{-0.002, 0.001, 0.003} {
		e := stats.Estimate{Value: ns, Lo: ns - 1, Hi: ns + 1, Unit: "ns", Statistic: "mean", N: 5}
		r.Timings = append(r.Timings, bytecode.Timing{
			Instruction: &bytecode.Instruction{Mnemonic: fmt.Sprint("i", i)}, Form: bytecode.Homogeneous, Judgement: stats.NewJudgement(),
			Measured: []bytecode.Measured{{Method: bytecode.TSC, Time: e, Same: e, Judgement: stats.NewJudgement()}},
		})
	}
	reports := bytecode.Reports([]*bytecode.Result{r}, bytecode.Choice{Methods: bytecode.Methods()})
	data, err := json.Marshal(Bytecode{Header: NewHeader("bytecode", &machine.Machine{}, 1), Report: reports[0], Others: reports[1:]})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := Parse(data); err != nil || d.(Bytecode).Summary.MinNs.Value() != -0.002 {
		t.Errorf("%v", err)
	}
}
