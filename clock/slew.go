package clock

// SlewLimit is how far a system may bend the rate of its clocks to bring them in step: 500
// parts per million (adjtimex(2)), and some room.
const SlewLimit = 600e-6
