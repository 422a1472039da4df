package classfile_test

import (
	"fmt"

	"chronoscope/internal/classfile"
)

// Encode returns a class with one method, which adds two numbers, as bytes that a virtual machine loads.
func ExampleClass_Encode() {
	c := classfile.Class{
		Access: classfile.Public | classfile.Super, Name: "Adder", Super: "java/lang/Object",
		Methods: []classfile.Method{{
			Access: classfile.Public | classfile.Static, Name: "add", Descriptor: "(II)I",
			Code: []classfile.Instruction{{Op: classfile.Iload0}, {Op: classfile.Iload1}, {Op: classfile.Iadd}, {Op: classfile.Ireturn}},
		}},
	}
	data, err := c.Encode()
	fmt.Printf("%x... %v\n", data[:4], err)
	// Output: cafebabe... <nil>
}
