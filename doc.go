// Package chronoscope answers one question: how fast does X run on machine Y,
// and how far can the number be trusted?
//
// The module is a library and a command. Data flows in one direction. Package clock reads a clock. A method,
// such as package timermeter, turns readings into samples, and samples into an estimate with its interval and
// verdict. A record holds estimates together with a description of the machine that they were taken on. A view
// and a renderer show a record.
//
// Packages are stacked in floors, and import only packages of lower floors. This package is empty; its tests
// check that.
package chronoscope
