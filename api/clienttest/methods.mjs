// This program prints a line for each method of the published client: the method and the path of its request, and how
// to call it.
import { GitBookAPI } from '@gitbook/api';

const api = new GitBookAPI({ authToken: 'none' });
const lines = [];
let requested;
api.request = (request) => (requested = request);
for (const [group, methods] of Object.entries(api)) {
    if (methods === null || typeof methods !== 'object') {
        continue;
    }
    for (const [name, method] of Object.entries(methods)) {
        if (typeof method !== 'function') {
            continue;
        }
        const names = argumentsOf(method).filter((argument) => argument !== 'params');
        requested = undefined;
        method(...names.map((argument) => (argument === 'query' || argument === 'data' ? {} : `{${argument}}`)));
        if (requested !== undefined) {
            const route = `${requested.method} ${decodeURIComponent(requested.path)}`;
            lines.push(`${route} ${group}.${name}(${names.join(', ')})`);
        }
    }
}
console.log(lines.sort().join('\n'));

/** Returns the names of a function's arguments, without their default values. */
function argumentsOf(method) {
    const source = method.toString();
    return source.slice(source.indexOf('(') + 1, source.indexOf('=>')).replace(/\)\s*$/, '').split(',')
        .map((argument) => argument.replace(/=.*/s, '').trim()).filter(Boolean);
}
