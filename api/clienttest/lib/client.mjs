// This module has the published client, and a function that sends requests without it. Every answer is checked against
// the contract and recorded, also refusals and answers that a scenario does not read.
import { appendFileSync } from 'node:fs';
import { GitBookAPI } from '@gitbook/api';

/**
 * Witness checks the answers of a server against the contract. It adds a line of JSON for each answer to the file of
 * notes. coverage.mjs reads the notes of all scenarios.
 */
export class Witness {
    #contract;
    #problems = [];
    #notes;

    constructor(contract, notes) {
        this.#contract = contract;
        this.#notes = notes;
    }

    /** Returns the faults since the last call. */
    take() {
        return this.#problems.splice(0);
    }

    /** Returns a fetch that checks and records every answer. `via` is recorded too: "client" or "direct". */
    fetch(via) {
        return async (input, init) => {
            const response = await fetch(input, { ...init, redirect: 'manual' });
            const text = await response.clone().text();
            const method = init?.method ?? 'GET';
            const { pathname } = new URL(input);
            const operation = this.#contract.match(method, pathname);
            if (!operation) {
                this.#problems.push(`${method} ${pathname}: no operation of the contract`);
                return response;
            }
            const { problems, exceptions } = this.#contract.judge(operation, { status: response.status, headers: response.headers, text });
            const asked = init?.body ? ` to ${String(init.body).slice(0, 200)}` : '';
            this.#problems.push(...problems.map((p) => `${operation.id} (${method} ${pathname}) answered ${response.status}${asked}: ${p}`));
            if (this.#notes) {
                const note = { operation: operation.key, id: operation.id, via, status: response.status, valid: problems.length === 0, exceptions };
                appendFileSync(this.#notes, JSON.stringify(note) + '\n');
            }
            return response;
        };
    }
}

/** Returns the published client with a user's token. */
export function connect(endpoint, token, witness) {
    return new GitBookAPI({ endpoint, authToken: token, serviceBinding: { fetch: witness.fetch('client') } });
}

/**
 * Returns a function that sends requests with a user's token and without the published client. Scenarios use it for
 * operations that the client does not have. It returns {status, headers, data}, also for a refusal.
 */
export function direct(endpoint, token, witness) {
    const watched = witness.fetch('direct');
    return async (method, path, body, headers = {}) => {
        const response = await watched(path.startsWith('http') ? path : `${endpoint}/v1${path}`, {
            method,
            headers: {
                ...(token ? { authorization: `Bearer ${token}` } : {}), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers,
            },
            body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
        });
        const text = await response.text();
        let data;
        try {
            data = text === '' ? undefined : JSON.parse(text);
        } catch {
            data = text; // The witness has reported the invalid JSON.
        }
        return { status: response.status, headers: response.headers, data };
    };
}
