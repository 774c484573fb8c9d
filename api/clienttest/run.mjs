// This program runs scenarios. Each line of its standard input is a JSON object with a scenario's name, its users and
// its file of notes. After each scenario it reports a test with the name `NAME/`. This test fails if the scenario has
// ended early.
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
