package schema

// Baseline is the number of the data format that this version of Octavo reads and writes. Octavo refuses a data
// directory, a topic or a database with another number. The number changes only until version 0.1.0 is released.
const Baseline = 1
