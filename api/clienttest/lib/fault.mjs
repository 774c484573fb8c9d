// How a fault is told: its message, and where in a scenario it arose; the runner's and our own helpers' frames tell nothing.
export function describe(error) {
    if (!(error instanceof Error)) {
        return String(error);
    }
    const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at .*\/clienttest\/(scenarios|unit|coverage)/.test(line));
    return [error.message, ...frames.slice(0, 2)].join('\n');
}
