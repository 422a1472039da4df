package classfile

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// small is a class that was assembled by hand according to chapter 4 of the JVM specification: a static
// method that returns the sum of its two parameters.
const small = "cafebabe 0000 0031" + // version 49.0
	"0008" + // constants up to 7
	"01 0001 41" + // 1: A
	"07 0001" + // 2: class A
	"01 0010 6a6176612f6c616e672f4f626a656374" + // 3: java/lang/Object
	"07 0003" + // 4: class java/lang/Object
	"01 0003 737568" + // 5: a name
	"01 0005 284949 2949" + // 6: (II)I
	"01 0004 436f6465" + // 7: Code
	"0021 0002 0004 0000 0000" + // public, super; this, super; no interfaces, no fields
	"0001 0009 0005 0006 0001" + // one method, public static, one attribute
	"0007 00000010 0002 0002 00000004 1a 1b 60 ac 0000 0000" + // stack 2, locals 2
	"0000"

func smallClass() *Class {
	return &Class{
		Access: Public | Super, Name: "A", Super: "java/lang/Object",
		Methods: []Method{{
			Access: Public | Static, Name: "suh", Descriptor: "(II)I",
			Code: []Instruction{{Op: Iload0}, {Op: Iload1}, {Op: Iadd}, {Op: Ireturn}},
		}},
	}
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestByHand(t *testing.T) {
	want := unhex(t, small)
	got, err := smallClass().Encode()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("written %x, %v\nby hand %x", got, err, want)
	}
	c, err := parse(want)
	if diff := cmp.Diff(smallClass(), c); err != nil || diff != "" {
		t.Errorf("read: %v %s", err, diff)
	}
}

// The opcodes are from the ends of the groups in the specification's table (section 7).
func TestOpcodes(t *testing.T) {
	for mnemonic, code := range map[string]Op{
		"nop": 0, "lconst_0": 9, "ldc2_w": 20, "aload": 25, "aload_3": 45, "saload": 53, "astore_3": 78, "sastore": 86,
		"swap": 95, "iadd": 96, "lxor": 131, "iinc": 132, "i2s": 147, "lcmp": 148, "ifeq": 153, "if_acmpne": 166,
		"goto": 167, "return": 177, "invokeinterface": 185, "new": 187, "monitorexit": 195, "ifnonnull": 199, "goto_w": 200,
	} {
		if op, ok := OpOf(mnemonic); !ok || op != code || op.String() != mnemonic {
			t.Errorf("%s is %d, %v, want %d", mnemonic, op, op, code)
		}
	}
	if len(shapes) != 202 {
		t.Errorf("%d opcodes", len(shapes))
	}
	if _, ok := OpOf("iad"); ok {
		t.Error("iad is an opcode")
	}
}

// What the program itself has to get right ends it.
func TestRefusals(t *testing.T) {
	far := append([]Instruction{{Op: Goto, Arg: 40_001}}, make([]Instruction, 40_000)...)
	far = append(far, Instruction{Op: Return})
	for name, c := range map[string]struct {
		code []Instruction
		want string
	}{
		"falls off the end":    {[]Instruction{{Op: Nop}}, "out of range"},
		"takes from nothing":   {[]Instruction{{Op: Pop}, {Op: Return}}, "-1 is not from 0 to 0"},
		"two depths":           {[]Instruction{{Op: Iconst0}, {Op: Ifeq, Arg: 3}, {Op: Iconst0}, {Op: Return}}, "reached with a stack of"},
		"jumps out":            {[]Instruction{{Op: Goto, Arg: 7}}, "out of range"},
		"a byte too large":     {[]Instruction{{Op: Bipush, Arg: 128}, {Op: Return}}, "128 is not from -128 to 127"},
		"a far variable":       {[]Instruction{{Op: Iinc, Arg: 256}, {Op: Return}}, "256 is not from 0 to 255"},
		"a text":               {[]Instruction{{Op: LdcW, Ref: "7"}, {Op: Return}}, "is string, not float64"},
		"a call of nothing":    {[]Instruction{{Op: Invokestatic}, {Op: Return}}, "is nil, not classfile.Member"},
		"a switch":             {[]Instruction{{Op: Iconst0}, {Op: Tableswitch}}, "not supported"},
		"an undefined opcode":  {[]Instruction{{Op: 250}}, "out of range"},
		"a branch too far":     {far, "is not from -32768 to 32767"},
		"code that is nothing": {[]Instruction{}, "out of range"},
	} {
		func() {
			defer func() {
				if why := fmt.Sprint(recover()); !strings.Contains(why, c.want) {
					t.Errorf("%s: %s, want %q", name, why, c.want)
				}
			}()
			class := smallClass()
			class.Methods[0].Code = c.code
			class.Encode()
		}()
	}
}

// A text or a list whose length needs more than two bytes ends the program, and is not cut.
func TestTooLong(t *testing.T) {
	for name, change := range map[string]func(*Class){
		"text":       func(c *Class) { c.Methods[0].Name = strings.Repeat("a", 65536) },
		"fields":     func(c *Class) { c.Fields = make([]Field, 65536) },
		"methods":    func(c *Class) { c.Methods = make([]Method, 65536) },
		"interfaces": func(c *Class) { c.Interfaces = slices.Repeat([]string{"I"}, 65536) },
	} {
		func() {
			defer func() {
				if why := fmt.Sprint(recover()); !strings.Contains(why, "65536 is not from 0 to 65535") {
					t.Errorf("%s: %s", name, why)
				}
			}()
			class := smallClass()
			change(class)
			class.Encode()
		}()
	}
}

// A sequence may be too long, which is no fault of the program.
func TestTooMuchCode(t *testing.T) {
	for n, fits := range map[int]bool{mostCode: true, mostCode + 1: false} {
		class := smallClass()
		class.Methods[0].Code = append(make([]Instruction, n-1), Instruction{Op: Return})
		if _, err := class.Encode(); (err == nil) != fits || !fits && !strings.HasSuffix(err.Error(), "class A: method suh(II)I: the code has 65536 bytes, and 65535 are possible") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// If any byte of the file is changed or missing, parse returns an error or another class, never the class
// of the whole file.
func TestDamage(t *testing.T) {
	whole := unhex(t, small)
	for i := range whole {
		if _, err := parse(whole[:i]); err == nil {
			t.Errorf("the first %d bytes are a class", i)
		}
		for _, bit := range []byte{1, 0x80} {
			damaged := bytes.Clone(whole)
			damaged[i] ^= bit
			if c, err := parse(damaged); err == nil && cmp.Equal(c, smallClass()) && !harmless(i) {
				t.Errorf("byte %d may be %#x", i, damaged[i])
			}
		}
	}
	if _, err := parse(append(whole, 0)); err == nil {
		t.Error("a byte may follow")
	}
}

// harmless reports whether byte i declares the size of the stack or of the local variables, for which
// a larger value is no error.
func harmless(i int) bool {
	at := strings.Index(strings.ReplaceAll(small, " ", ""), "00020002000000041a") / 2
	return i >= at && i < at+4
}

// generated draws a class whose code keeps a valid stack, and the limits that its code needs.
func generated(t *rapid.T) (*Class, Limits) {
	var code Code
	depth, most, locals := 0, 0, 3
	depths := []int{}
	add := func(in Instruction, takes, leaves int) {
		depths = append(depths, depth)
		code = append(code, in)
		depth += leaves - takes
		most = max(most, depth)
	}
	variable := func(v, slots int) int { locals = max(locals, v+slots); return v }
	for range rapid.IntRange(0, 60).Draw(t, "length") {
		v := rapid.IntRange(0, 255).Draw(t, "variable")
		switch rapid.IntRange(0, 12).Draw(t, "kind") {
		case 0:
			add(Instruction{Op: Bipush, Arg: rapid.IntRange(-128, 127).Draw(t, "byte")}, 0, 1)
		case 1:
			add(Instruction{Op: LdcW, Ref: rapid.OneOf(
				rapid.Map(rapid.Int32(), func(v int32) any { return v }),
				rapid.Map(rapid.Float32(), func(v float32) any { return v }),
			).Draw(t, "constant")}, 0, 1)
		case 2:
			add(Instruction{Op: Ldc2W, Ref: rapid.Int64().Draw(t, "long")}, 0, 2)
		case 3:
			add(Instruction{Op: Lload, Arg: variable(v, 2)}, 0, 2)
		case 4:
			add(Instruction{Op: Iinc, Arg: variable(v, 1), Increment: rapid.IntRange(-128, 127).Draw(t, "increment")}, 0, 0)
		case 5:
			add(Instruction{Op: Getstatic, Ref: Member{"a/B", "c", "D"}}, 0, 2)
		case 6:
			add(Instruction{Op: Invokestatic, Ref: Member{"a/B", "d", "()[[Ljava/lang/String;"}}, 0, 1)
		case 7:
			if depth >= 2 {
				add(Instruction{Op: Invokeinterface, Ref: Member{"a/C", "e", "(F)J"}}, 2, 2)
			}
		case 8:
			if depth >= 4 {
				add(Instruction{Op: Dup2X2}, 4, 6)
			}
		case 9:
			if depth >= 1 {
				add(Instruction{Op: Newarray, Arg: rapid.IntRange(4, 11).Draw(t, "type")}, 1, 1)
			}
		case 10:
			if depth >= 1 {
				add(Instruction{Op: Astore0 + 3}, 1, 0)
				locals = max(locals, 4)
			}
		case 11: // a jump back to an instruction with the same stack depth
			if at := rapid.IntRange(0, max(0, len(code)-1)).Draw(t, "target"); depth >= 1 && len(code) > 0 && depths[at] == depth-1 {
				add(Instruction{Op: Ifnull, Arg: at}, 1, 0)
			}
		case 12:
			if depth >= 1 { // a jump forward to the next instruction
				add(Instruction{Op: Ifeq, Arg: len(code) + 1}, 1, 0)
			}
		}
	}
	add(Instruction{Op: Return}, 0, 0)
	return &Class{
		Access: Public, Name: "a/Ä", Super: "b/C", Interfaces: []string{"java/lang/Runnable"},
		Fields: []Field{{Static | Volatile, "x", "[J"}},
		Methods: []Method{
			{Public | Static, "run", "(IJ)V", code},
			{Public | Native, "read", "()J", nil},
		},
	}, Limits{most, locals}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		class, want := generated(t)
		if got := class.Methods[0].Limits(); got != want {
			t.Fatalf("limits %+v, want %+v", got, want)
		}
		data, err := class.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(class, back); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestAssembler(t *testing.T) {
	var c Code
	for _, v := range []int32{-2, -1, 5, 6, 127, 128, 32767, 32768} {
		c.Int(v)
	}
	c.Long(1)
	c.Long(2)
	c.Float(2)
	c.Float(3)
	c.Float(float32(math.Copysign(0, -1)))
	c.Double(1)
	c.Double(2)
	at := c.Jump(Goto)
	c.Do(Nop)
	c.Land(at)
	c.Do(Return)
	var got strings.Builder
	for _, in := range c {
		fmt.Fprintf(&got, "%v %d %v; ", in.Op, in.Arg, in.Ref)
	}
	want := "bipush -2 <nil>; iconst_m1 0 <nil>; iconst_5 0 <nil>; bipush 6 <nil>; bipush 127 <nil>; sipush 128 <nil>; sipush 32767 <nil>; ldc_w 0 32768; " +
		"lconst_1 0 <nil>; ldc2_w 0 2; fconst_2 0 <nil>; ldc_w 0 3; ldc_w 0 -0; dconst_1 0 <nil>; ldc2_w 0 2; goto 17 <nil>; nop 0 <nil>; return 0 <nil>; "
	if got.String() != want {
		t.Errorf("%s\nwant\n%s", got.String(), want)
	}
}

// The index of an interface's method is followed by the number of slots of its arguments and a zero (JVM
// specification, section 6.5, invokeinterface).
func TestInterfaceCall(t *testing.T) {
	class := smallClass()
	class.Methods[0].Descriptor = "(Ljava/lang/Runnable;)V"
	class.Methods[0].Code = []Instruction{{Op: Aload0}, {Op: Invokeinterface, Ref: Member{"java/lang/Runnable", "run", "()V"}}, {Op: Return}}
	data, err := class.Encode()
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(data, []byte{byte(Aload0), byte(Invokeinterface)})
	if call := data[at+1 : at+7]; call[3] != 1 || call[4] != 0 || call[5] != byte(Return) {
		t.Fatalf("the call is %x", call)
	}
	for _, i := range []int{4, 5} {
		damaged := bytes.Clone(data)
		damaged[at+i]++
		if _, err := parse(damaged); err == nil {
			t.Errorf("byte %d of the call may be anything", i-1)
		}
	}
}
