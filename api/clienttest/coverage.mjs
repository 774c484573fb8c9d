// This program runs after all scenarios. It checks that each operation of the contract has succeeded at least once, and
// that an answer has needed each exception. The folder OCTAVO_CLIENTTEST_NOTES has the notes of all scenarios.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Contract } from './lib/contract.mjs';
import { exceptions, operations as additions, outcomes } from './lib/seed.mjs';

const folder = process.env.OCTAVO_CLIENTTEST_NOTES;
const notes = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line)));
const rows = readFileSync(new URL('operations.txt', import.meta.url), 'utf8').trim().split('\n');
const contract = new Contract();

test('the list of operations is the contract', () => {
    assert.equal(new Set(rows).size, 107);
    for (const row of rows) {
        const [method, path] = row.split(' ');
        assert.equal(contract.match(method, '/v1' + path.replace(/\{[^}]*\}/g, 'x'))?.key, row);
    }
});

// The published client calls 106 of the operations that are in the list. Direct requests call the operations that only
// the seed describes.
for (const row of rows) {
    const via = additions[row] ? 'direct' : 'client';
    const [method, path] = row.split(' ');
    test(`${contract.match(method, '/v1' + path)?.id} succeeds`, () => {
        const seen = notes.filter((n) => n.operation === row);
        const right = seen.filter((n) => n.via === via && n.valid && (outcomes[row] ? n.status === outcomes[row] : n.status < 300));
        const statuses = [...new Set(seen.map((n) => `${n.via} ${n.status}${n.valid ? '' : ' (breaks the contract)'}`))].join(', ');
        assert.ok(right.length > 0, `${row}: no valid success through ${via}; seen: ${statuses || 'nothing'}`);
    });
}

for (const { name } of exceptions) {
    test(`the exception ${name} is needed`, () => {
        assert.ok(notes.some((n) => n.exceptions.includes(name)), 'no answer needs it: take it out of lib/seed.mjs');
    });
}
