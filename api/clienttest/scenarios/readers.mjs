// This scenario replays the cases of ../front-end/ on new sites. The cases have the requests that the open front end
// sends for its readers, in both generations of the front end.
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import { begin, operator, step, until } from '../lib/scenario.mjs';
import { Contract, published } from '../lib/contract.mjs';
import { Replay } from '../lib/vectors.mjs';
import { build } from '../front-end/world.mjs';
import { exceptions as ofEvery } from '../lib/seed.mjs';
import { exceptions } from '../front-end/exceptions.mjs';

const vectors = (name) => JSON.parse(readFileSync(new URL(`../front-end/${name}.json`, import.meta.url), 'utf8'));
const { generations, calls } = vectors('calls');
const { sequences, cases } = vectors('cases');

const people = await begin('Readers', { bob: 'read' });
let world;
const tokens = { member: people.bob.token };
await step('sites for readers', async () => {
    world = await build(people);
    tokens['front-end'] = operator('token', 'create', '--front-end');
    tokens['site key'] = operator('token', 'create', '--site', world.plain.site);
});

/** Returns the calls of a case, with the values that the case expects of each answer. */
const steps = ({ steps: list }) => list.flatMap(({ sequence, then = {}, with: given, ...one }) => (
    sequence ? sequences[sequence].map((s, n) => ({ ...s, ...then[s.call], ...(n === 0 && { with: given }) })) : [{ ...one, with: given }]));

for (const [generation, { package: name, values }] of Object.entries(generations)) {
    const contract = name === '@gitbook/api'
        ? new Contract(published(), { exceptions: [...ofEvery, ...exceptions[name]] })
        : new Contract(published(name), { operations: {}, members: [], exceptions: exceptions[name] });
    const replay = new Replay({ calls, generation, contract, server: people.url, tokens });
    for (const one of cases) {
        await step(`${generation}: ${one.name}`, async () => {
            const known = { ...world, ...values, now: new Date().toISOString() };
            const problems = [];
            for (const s of steps(one)) {
                let found = [];
                const asks = async () => (found = await replay.step(s, known)).length === 0;
                await (s.eventually ? until(`answer to ${s.call}`, asks).catch((error) => found.push(error.message)) : asks());
                problems.push(...found.map((p) => `${s.call}: ${p}`));
            }
            assert.deepEqual(problems, []);
        });
    }
    await step(`${generation}: every call is made, every exception needed`, () => {
        const unmade = Object.keys(calls).filter((call) => replay.call(call) && !replay.made.has(call));
        const unused = exceptions[name].map((e) => e.name).filter((e) => !replay.used.has(e));
        assert.deepEqual({ unmade, unused }, { unmade: [], unused: [] });
    });
}
