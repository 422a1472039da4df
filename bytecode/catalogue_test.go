package bytecode

import (
	"slices"
	"strings"
	"testing"
)

// The number of instructions of each kind is that of Lambert 2008, table 6, corrected by section 7 of
// the JVM specification.
func TestCatalogue(t *testing.T) {
	want := map[Kind]int{
		Constants: 18, Loads: 20, Stores: 20, StackMoves: 9, Arithmetic: 37, Conversions: 15, Comparisons: 5, Branches: 13,
	}
	got, opcodes := map[Kind]int{}, map[byte]bool{}
	for i, in := range Catalogue() {
		got[in.Kind]++
		opcodes[in.Opcode] = true
		if i > 0 && in.Opcode <= catalogue[i-1].Opcode {
			t.Errorf("%s stands after %s", in.Mnemonic, catalogue[i-1].Mnemonic)
		}
	}
	for kind, n := range want {
		if got[kind] != n {
			t.Errorf("%d %s, want %d", got[kind], kind, n)
		}
	}
	if len(opcodes) != 137 || len(Catalogue()) != 137 {
		t.Errorf("%d opcodes in %d instructions, want 137", len(opcodes), len(Catalogue()))
	}
}

// Lookup finds the outliers of Lambert 2008, table 3, and does not find what the paper leaves out.
func TestLookup(t *testing.T) {
	for _, mnemonic := range strings.Fields("lrem ldiv d2i d2l f2l f2i drem frem idiv l2d irem i2d l2f") {
		if in, err := Lookup(mnemonic); err != nil || in.Mnemonic != mnemonic {
			t.Errorf("%s: %v", mnemonic, err)
		}
	}
	for _, mnemonic := range []string{"", "ldc", "aload", "if_acmpeq", "ifnull", "wide", "jsr", "goto_w", "ireturn", "IADD"} {
		if _, err := Lookup(mnemonic); err == nil || !strings.Contains(err.Error(), "nop aconst_null iconst_m1") {
			t.Errorf("%q: %v, want the list", mnemonic, err)
		}
	}
}

// Twenty instructions can't work on the result of the one before: twelve conversions, five
// comparisons, and three shifts of longs.
func TestBalance(t *testing.T) {
	var balanced []string
	for _, in := range Catalogue() {
		if s := newSequence(in, in.forms(false)[0], 10); len(s.balance) > 0 {
			balanced = append(balanced, in.Mnemonic+" "+strings.Join(s.balance, " "))
		}
	}
	want := strings.Split("lshl pop2,lshr pop2,lushr pop2,i2l pop2,i2f pop,i2d pop2,l2i pop,l2f pop,l2d pop2,f2i pop,f2l pop2,f2d pop2,"+
		"d2i pop,d2l pop2,d2f pop,lcmp pop,fcmpl pop,fcmpg pop,dcmpl pop,dcmpg pop", ",")
	if !slices.Equal(balanced, want) {
		t.Errorf("%q\nwant %q", balanced, want)
	}
}

func TestForms(t *testing.T) {
	for mnemonic, want := range map[string]string{
		"iadd": "[homogeneous pair]", "ifeq": "[taken not-taken]", "goto": "[homogeneous]", "nop": "[homogeneous]", "i2l": "[homogeneous pair]",
	} {
		var got []string
		for _, f := range mustLookup(mnemonic).forms(true) {
			got = append(got, string(f))
		}
		if text := "[" + strings.Join(got, " ") + "]"; text != want {
			t.Errorf("%s: %s, want %s", mnemonic, text, want)
		}
	}
	if all, err := sequences(nil, false, 0); err == nil {
		t.Errorf("%d sequences of no length", len(all))
	}
}
