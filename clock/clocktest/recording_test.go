package clocktest

import (
	"bytes"
	"compress/gzip"
	"math"
	"testing"
)

// A thread that runs through whole rounds of a recording loses exactly the recorded time.
func TestReplay(t *testing.T) {
	all, err := Recordings()
	if err != nil || len(all) < 8 {
		t.Fatalf("%d recordings: %v", len(all), err)
	}
	for _, r := range all {
		var waited, ran, last float64
		for _, g := range r.Gaps {
			if g.AtNs < last {
				t.Fatalf("%s: a gap at %v lies before the end of the last, %v", r.Name, g.AtNs, last)
			}
			last = g.AtNs + g.Ns
			if g.Preempted {
				waited += math.Max(0, g.Ns-recordedSwitchNs)
			} else {
				ran += g.Ns
			}
		}
		m := NewMachine(1)
		s := Share(m, Sharing{Recorded: &r})
		for m.NowNs() < 3*r.Ns {
			m.Run(1e6)
		}
		use, _ := s.Use()
		if rounds := m.NowNs() / r.Ns; math.Abs(float64(use.WaitNs)/waited/rounds-1) > 0.02 {
			t.Errorf("%s: it waited %v ns in %v rounds, recorded are %v ns", r.Name, use.WaitNs, rounds, waited)
		}
		if total := float64(use.CPUNs + use.WaitNs); math.Abs(total/m.NowNs()-1) > 1e-6 {
			t.Errorf("%s: CPU time and wait are %v ns of %v", r.Name, total, m.NowNs())
		}
	}
}

func TestBrokenRecordings(t *testing.T) {
	for _, text := range []string{"", "start_ns,duration_ns\n1,2\n", "start_ns,duration_ns,cause\n5,x,interrupt\n", "start_ns,duration_ns,cause\n5,1,interrupt\n2,1,interrupt\n"} {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write([]byte(text))
		w.Close()
		if r, err := ReadRecording("broken", &packed); err == nil {
			t.Errorf("%q is read as %+v", text, r)
		}
	}
}
