// Package repeat decides what is measured next, and when enough was measured, for methods that measure
// several subjects in turn.
//
// A subject is measured again and again: its measurements are a series. In a round each series that is
// not finished gets one more measurement, in random order, so that what the machine does meanwhile
// befalls all subjects alike. Subjects that are compared form a group: their measurements of one round
// follow one another, and are a pair.
//
// A series ends when its interval is as narrow as asked for. An interval that may end a series whenever
// it happens to be narrow covers the truth less often than it says. So it is looked at ever more rarely,
// at numbers of measurements that grow by half ([Due]); [chronoscope/stats.Looks] are for tests that
// have to hold at every look.
package repeat
