// This program runs scenarios. Each line of the standard input is JSON: the scenario's name, users and file of notes.
// A test `NAME/` marks the end of each scenario. The test fails if the scenario ended early.
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { enter } from './lib/scenario.mjs';

for await (const line of createInterface({ input: process.stdin })) {
    const { name, ...settings } = JSON.parse(line);
    enter(name, settings);
    let failure;
    try {
        await import(`./scenarios/${name}.mjs`);
    } catch (error) {
        failure = error;
    }
    await test(`${name}/`, () => {
        if (failure) {
            throw failure;
        }
    });
}
