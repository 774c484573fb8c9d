// This reporter writes a line of JSON for each test. ../client_test.go reads the lines.
import { describe } from './fault.mjs';

export default async function* report(events) {
    for await (const { type, data } of events) {
        if (type === 'test:pass' || type === 'test:fail') {
            const { error } = data.details;
            yield JSON.stringify({ name: data.name, passed: type === 'test:pass', error: error && describe(error.cause ?? error) }) + '\n';
        }
    }
}
