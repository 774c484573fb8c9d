package frame_test

const raceEnabled = false
