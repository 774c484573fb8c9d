// This scenario synchronizes a space with a Git repository by an import and an export. It also removes a Git
// configuration of the old form.
import assert from 'node:assert/strict';
import { badField, begin, refused, space, step } from '../lib/scenario.mjs';

const { ada, bob, eve, org } = await begin('Git', { bob: 'edit' });
const api = ada.api.spaces;
// No resolver finds this name (RFC 6761), so the operations start but cannot connect to a repository.
const url = 'https://git.example.invalid/octavo/handbook.git';
const ref = 'refs/heads/main';
let handbook;

await step('a space without Git has no Git info', async () => {
    handbook = await space(ada, org, 'Handbook');
    await refused(api.getSpaceGitInfo(handbook.id), 404);
    assert.equal((await api.getSpaceById(handbook.id)).data.gitSync, undefined);
});

await step('an import is begun', async () => {
    await api.importGitRepository(handbook.id, {
        url: 'https://x:secret@git.example.invalid/octavo/handbook.git', ref, repoCacheID: 'handbook', repoTreeURL: 'https://git.example.invalid/octavo/handbook/tree/main',
        repoCommitURL: 'https://git.example.invalid/octavo/handbook/commit', repoProjectDirectory: 'docs', timestamp: new Date().toISOString(),
        force: true, standalone: false, gitInfo: { provider: 'github', url },
    });
});

await step('an import that only waits makes no Git info', async () => {
    await refused(api.getSpaceGitInfo(handbook.id), 404);
    assert.equal((await api.getSpaceById(handbook.id)).data.gitSync, undefined);
});

await step('an export is begun', async () => {
    await api.exportToGitRepository(handbook.id, {
        url, ref, commitMessage: 'Publish the handbook', timestamp: new Date().toISOString(), force: false, gitInfo: { provider: 'gitlab', url },
    });
    await refused(api.getSpaceGitInfo(handbook.id), 404);
});

await step('an old installation is removed, and removing it again changes nothing', async () => {
    await api.deleteLegacyGitInstallation(handbook.id);
    await api.deleteLegacyGitInstallation(handbook.id);
});

await step('who may not, cannot', async () => {
    await refused(bob.api.spaces.importGitRepository(handbook.id, { url, ref }), 403);
    await refused(bob.api.spaces.exportToGitRepository(handbook.id, { url, ref, commitMessage: 'x' }), 403);
    await refused(bob.api.spaces.deleteLegacyGitInstallation(handbook.id), 403);
    await refused(eve.api.spaces.getSpaceGitInfo(handbook.id), 404);
    await refused(eve.api.spaces.importGitRepository(handbook.id, { url, ref }), 404);
});

await step('bad input is named', async () => {
    const path = `/spaces/${handbook.id}/git`;
    await badField(ada, 'POST', `${path}/import`, { ref }, 'url');
    await badField(ada, 'POST', `${path}/import`, { url }, 'ref');
    await badField(ada, 'POST', `${path}/import`, { url, ref: 'main' }, 'ref');
    await badField(ada, 'POST', `${path}/import`, { url: 'file:///etc/passwd', ref }, 'url');
    await badField(ada, 'POST', `${path}/import`, { url: 'http://169.254.169.254/octavo.git', ref }, 'url');
    await badField(ada, 'POST', `${path}/import`, { url, ref, timestamp: 'yesterday' }, 'timestamp');
    await badField(ada, 'POST', `${path}/import`, { url, ref, gitInfo: { provider: 'svn' } }, 'provider');
    await badField(ada, 'POST', `${path}/export`, { url, ref }, 'commitMessage');
});
