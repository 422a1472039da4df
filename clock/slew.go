package clock

// SlewLimit is the largest relative change of rate by which a system may bring its clocks in
// step: 500 parts per million (adjtimex(2)), and a margin.
const SlewLimit = 600e-6
