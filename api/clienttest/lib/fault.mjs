// describe returns an error's message and the lines of its stack that are in a scenario or a unit test. It leaves out
// the lines of the test runner and of lib/.
export function describe(error) {
    if (!(error instanceof Error)) {
        return String(error);
    }
    const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at .*\/clienttest\/(scenarios|unit|coverage)/.test(line));
    return [error.message, ...frames.slice(0, 2)].join('\n');
}
