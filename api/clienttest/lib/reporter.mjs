// Reports each test as a line of JSON, for ../client_test.go.
export default async function* report(events) {
    for await (const { type, data } of events) {
        if (type === 'test:pass' || type === 'test:fail') {
            const error = data.details.error;
            yield JSON.stringify({
                name: data.name, passed: type === 'test:pass', skipped: Boolean(data.skip), seconds: data.details.duration_ms / 1000,
                error: error && describe(error.cause ?? error),
            }) + '\n';
        }
    }
}

// The message and where in our files it arose; the runner's own frames tell nothing.
function describe(error) {
    if (!(error instanceof Error)) {
        return String(error);
    }
    const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line) && line.includes('/clienttest/') && !line.includes('node_modules'));
    return [error.message, ...frames.slice(0, 4)].join('\n');
}
