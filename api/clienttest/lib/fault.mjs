// describe returns a fault's message and its place in a scenario. It leaves out the frames of the runner and of our
// helpers.
export function describe(error) {
    if (!(error instanceof Error)) {
        return String(error);
    }
    const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at .*\/clienttest\/(scenarios|unit|coverage)/.test(line));
    return [error.message, ...frames.slice(0, 2)].join('\n');
}
