// These tests check Witness: it checks every answer to the published client and to direct requests, even if the caller
// does not read the answer.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Contract } from '../lib/contract.mjs';
import { Witness, connect, direct } from '../lib/client.mjs';

const folder = mkdtempSync(join(tmpdir(), 'clienttest-'));
const notes = join(folder, 'notes.jsonl');
const witness = new Witness(new Contract(), notes);
const seen = [];
let answer;
const server = createServer((request, response) => {
    seen.push({ method: request.method, url: request.url, authorization: request.headers.authorization });
    response.writeHead(answer.status, answer.body === undefined ? {} : { 'content-type': 'application/json' });
    response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const api = connect(url, 'a-token', witness);
const http = direct(url, 'a-token', witness);
const user = { object: 'user', id: 'u', displayName: 'Ada', urls: { location: 'https://x.example.com' } };

test('the client that is pinned is the contract’s', () => {
    const { version } = JSON.parse(readFileSync(new URL('../node_modules/@gitbook/api/package.json', import.meta.url), 'utf8'));
    assert.equal(version, '0.146.0');
});

test('a right answer passes, and reaches the caller', async () => {
    answer = { status: 200, body: user };
    assert.deepEqual((await api.user.getAuthenticatedUser()).data, user);
    assert.deepEqual((await http('GET', '/user')).data, user);
    assert.deepEqual(witness.take(), []);
    assert.deepEqual(seen.at(-2), { method: 'GET', url: '/v1/user', authorization: 'Bearer a-token' });
});

test('a wrong one is reported, once', async () => {
    answer = { status: 200, body: { ...user, email: null } };
    await api.user.getAuthenticatedUser();
    assert.match(witness.take().join(), /getAuthenticatedUser .* answered 200: \/email must be string, is null/);
    assert.deepEqual(witness.take(), []);
});

test('a refusal is the client’s own error, and is judged, too', async () => {
    answer = { status: 404, body: { error: { code: 404, message: 'no such space' } } };
    await assert.rejects(api.spaces.getSpaceById('s'), { name: 'GitBookAPIError', code: 404, errorMessage: 'no such space' });
    assert.deepEqual(witness.take(), []);
    answer = { status: 404, body: { message: 'no such space' } };
    await assert.rejects(api.spaces.getSpaceById('s'), { code: 404 });
    assert.match(witness.take().join(), /must have required property 'error'/);
});

test('a deletion has no body', async () => {
    answer = { status: 204 };
    await api.collections.deleteCollectionById('c');
    assert.deepEqual(witness.take(), []);
});

test('what is no operation is reported', async () => {
    answer = { status: 200, body: {} };
    await http('GET', '/nowhere');
    assert.match(witness.take().join(), /GET \/v1\/nowhere: no operation/);
});

test('every answer of an operation is noted', () => {
    const lines = readFileSync(notes, 'utf8').trim().split('\n').map((l) => JSON.parse(l));
    assert.deepEqual(lines.map((n) => `${n.id} ${n.via} ${n.status} ${n.valid}`), [
        'getAuthenticatedUser client 200 true', 'getAuthenticatedUser direct 200 true', 'getAuthenticatedUser client 200 false',
        'getSpaceById client 404 true', 'getSpaceById client 404 false', 'deleteCollectionById client 204 true',
    ]);
    assert.equal(lines.at(-1).operation, 'DELETE /collections/{collectionId}');
});

test.after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
});
