// This module has the functions of scenarios. Each scenario has users with tokens of a running server, and begins with
// a new organization. ../client_test.go sets two environment variables: OCTAVO_URL is the address of the server, and
// OCTAVO_CLIENTTEST_PROGRAM is the path of the server's program, which the function operator runs. run.mjs calls enter
// with the users of each scenario.
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { Contract } from './contract.mjs';
import { Witness, connect, direct } from './client.mjs';
import { describe } from './fault.mjs';

const setting = (name) => {
    const value = process.env[name];
    if (!value) {
        throw new Error(`${name} is not set: run this by go test ./api/clienttest`);
    }
    return value;
};

const url = setting('OCTAVO_URL').replace(/\/$/, '');
// All scenarios run in one process, so each schema of the contract is compiled only once.
const contract = new Contract();
let scenario, tokens, witness;

/** Begins a scenario. `users` has a token for each user's name. Every answer is recorded in the file `notes`. */
export function enter(name, { users, notes }) {
    [scenario, tokens, witness] = [name, users, new Witness(contract, notes)];
}

/** The longest time to wait for a condition, in milliseconds. A test waits this long only if it fails. */
const patience = 45_000;

/**
 * Runs a step of a scenario. The step fails if run throws, or if an answer breaks the contract. The steps after it
 * still run, so a run shows all faults.
 */
export async function step(name, run) {
    await test(`${scenario}/${name}`, async () => {
        let failure;
        try {
            await run();
        } catch (error) {
            failure = error;
        }
        const problems = witness.take();
        if (problems.length > 0) {
            const broken = new Error(`the contract is broken:\n- ${[...problems, ...(failure ? [`and ${describe(failure)}`] : [])].join('\n- ')}`);
            broken.stack = ''; // The message names the request, so a stack does not help.
            throw broken;
        }
        if (failure) {
            throw failure;
        }
    });
}

/**
 * Returns a user of this scenario. The user's `api` is the published client, and `http` sends requests without the
 * client.
 */
export function user(name) {
    if (!tokens[name]) {
        throw new Error(`the scenario has no user ${name}`);
    }
    return { name, token: tokens[name], api: connect(url, tokens[name], witness), http: direct(url, tokens[name], witness) };
}

/** Runs a command of the server's program, as only the server's operator can. Returns the output. */
export const operator = (...args) => execFileSync(setting('OCTAVO_CLIENTTEST_PROGRAM'), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/**
 * Returns a function that sends requests with another token, or without a token. It does not use the published client.
 */
export const withToken = (token) => direct(url, token, witness);

/**
 * Returns the users of a scenario and their organization. Ada creates the organization. `members` has the names of
 * other members with their roles (null: a guest), and they join by link invites. Eve is never a member.
 */
export async function begin(title, members = {}) {
    const people = { ada: user('ada'), bob: user('bob'), cy: user('cy'), dee: user('dee'), eve: user('eve') };
    const world = { ...people, url };
    await step(`set up: ${title}`, async () => {
        for (const person of Object.values(people)) {
            const { data } = await person.api.user.getAuthenticatedUser();
            Object.assign(person, { id: data.id, email: data.email, displayName: data.displayName });
        }
        world.org = await organization(people.ada, title);
        for (const [name, role] of Object.entries(members)) {
            await join(world.org, people.ada, people[name], role);
        }
    });
    return world;
}

/** Creates an organization. The owner becomes its admin. The client of 0.146.0 has no method for this. */
export async function organization(owner, title) {
    const { status, data } = await owner.http('POST', '/orgs', { title });
    assert.equal(status, 201, `create organization: ${JSON.stringify(data)}`);
    return data.id;
}

/** Makes a user a member with a link invite that has this role. */
export async function join(org, admin, member, role) {
    const { data: invite } = await admin.api.orgs.createOrganizationInvite(org, { role });
    await member.api.orgs.joinOrganizationWithInvite(org, invite.id);
}

/** Creates a space with this title. */
export async function space(person, org, title, more = {}) {
    return (await person.api.orgs.createSpace(org, { title, ...more })).data;
}

/** Creates a site with these spaces. */
export async function site(person, org, title, spaces = [], more = {}) {
    return (await person.api.orgs.createSite(org, { title, spaces: spaces.map((s) => s.id), ...more })).data;
}

/** Changes the content of a change request. The client of 0.146.0 has no method for this. */
export async function edit(person, spaceId, changeRequestId, changes) {
    const { status, data } = await person.http('POST', `/spaces/${spaceId}/change-requests/${changeRequestId}/content`, { changes });
    assert.equal(status, 200, `change content: ${JSON.stringify(data)}`);
    return data;
}

/** Returns a change that inserts a page. */
export const insertPage = (title, markdown, more = {}) => ({ operation: 'insert_page', title, document: { markdown }, ...more });

/** Creates a change request with these changes of content and opens it. */
export async function propose(person, spaceId, subject, changes) {
    const { data: request } = await person.api.spaces.createChangeRequest(spaceId, { subject });
    await edit(person, spaceId, request.id, changes);
    return (await person.api.spaces.updateChangeRequestById(spaceId, request.id, { status: 'open' })).data;
}

/** Creates a change request with these changes of content and merges it. Returns the pages of the main content. */
export async function publish(person, spaceId, subject, changes) {
    const request = await propose(person, spaceId, subject, changes);
    const { data: merged } = await person.api.spaces.mergeChangeRequest(spaceId, request.id);
    assert.equal(merged.result, 'merge');
    return (await person.api.spaces.listPages(spaceId)).data.pages;
}

/**
 * Reads all pages of a list as a client does, and returns the items. Checks that no page has more than `limit` items,
 * that the count is right, and that no item appears twice.
 */
export async function all(read, limit, identify = (item) => item.id) {
    const items = [];
    let page, total;
    do {
        const { data } = await read({ limit, ...(page === undefined ? {} : { page }) });
        total = data.count;
        assert.ok(data.items.length <= limit, `${data.items.length} items on a page of ${limit}`);
        items.push(...data.items);
        page = data.next?.page;
        assert.ok(items.length <= 10_000, 'the list does not end');
    } while (page !== undefined);
    assert.equal(items.length, total, 'count is the total');
    assert.equal(new Set(items.map(identify)).size, items.length, 'an item came twice');
    return items;
}

/**
 * Checks that a call of the published client fails with an error of this status. If there are several statuses, the
 * error must have one of them.
 */
export async function refused(call, ...codes) {
    await assert.rejects(call, (error) => {
        assert.equal(error.name, 'GitBookAPIError', String(error.stack));
        assert.ok(codes.includes(error.code), `wants ${codes.join(' or ')}, got ${error.code}: ${error.errorMessage}`);
        assert.ok(error.errorMessage.length > 0);
        return true;
    });
}

/** Sends a request and checks that the answer is a 400 that names this field. */
export async function badField(person, method, path, body, field) {
    const { status, data } = await person.http(method, path, body);
    assert.equal(status, 400, `${JSON.stringify(body)} was answered ${JSON.stringify(data)}`);
    assert.ok(data.error.details?.some((d) => d.field.includes(field)), `no detail names ${field}: ${JSON.stringify(data)}`);
}

/** Calls the function until it returns a value, and returns the value. If the function throws, it is called again. */
export async function until(what, look) {
    const end = Date.now() + patience;
    let failure;
    while (Date.now() < end) {
        try {
            const found = await look();
            if (found) {
                return found;
            }
            failure = undefined;
        } catch (error) {
            failure = error;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`no ${what} in ${patience / 1000} s${failure ? `: ${failure.message}` : ''}`);
}

/** Checks that the address in the Location header of an answer leads to the created object. */
export async function leadsTo(person, response, resource = response.data) {
    const location = response.headers.get('location');
    const { status, data } = await person.http('GET', new URL(location, url).href);
    assert.equal(status, 200, `Location ${location}`);
    assert.deepEqual(data, resource);
}

/** Returns a rich document with a single paragraph. */
export const paragraph = (text) => ({
    object: 'document', data: { schemaVersion: 1 },
    nodes: [{ object: 'block', type: 'paragraph', nodes: [{ object: 'text', leaves: [{ object: 'leaf', text, marks: [] }] }] }],
});

/** Returns the text of a rich document. */
export function textOf(node) {
    return [node.text ?? '', ...(node.leaves ?? []).map(textOf), ...(node.nodes ?? []).map(textOf)].join('');
}
