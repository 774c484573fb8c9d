// This scenario tests single sign-on. It creates and activates an identity provider, and lists the logins that an
// organization offers.
import assert from 'node:assert/strict';
import { all, badField, begin, leadsTo, refused, step } from '../lib/scenario.mjs';

// The certificate's private key does not exist any more.
const certificate = `-----BEGIN CERTIFICATE-----
MIIDFzCCAf+gAwIBAgIUdVIA5Qsn1xkmPyNOKiH2mBhvq/wwDQYJKoZIhvcNAQEL
BQAwGjEYMBYGA1UEAwwPaWRwLmV4YW1wbGUuY29tMCAXDTI2MTEyMTE1MDQ1MFoY
DzIxMjYxMDI4MTUwNDUwWjAaMRgwFgYDVQQDDA9pZHAuZXhhbXBsZS5jb20wggEi
MA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQDZKLwHGy36PCSBAQlEvt6crsCL
ufYvWRnSGhLEUVFgu9ihYO9ilHA679pqJo64p64WhTcGfLDK8xlp6yTPyGdg37dU
WWjMN/IKINYYMlJn5UhFpFGYTnKYqk52Hb9dWC2Q1Zp/MKyS3kDkM+oycX/RjFyb
UK3L/Y1PFs4+SeAsyQwXWgxTjmTqKT5NksI+IVgo+tej0hQOKFG/nkGjyCpXmYv8
VonQ947lkdR+3yE0boZBFz8Ymm910QNng2chfMPFAD7O58HlzZe6lpcahrtXIIgy
msma6Zp74FePpALKwUGKHPlUUqo5L+bsqAlNmpgQrGiZb1k55Xn8xEaXkeChAgMB
AAGjUzBRMB0GA1UdDgQWBBT4AsdTcLKxznE5vfCO71Jr0uQPfzAfBgNVHSMEGDAW
gBT4AsdTcLKxznE5vfCO71Jr0uQPfzAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3
DQEBCwUAA4IBAQA+/D3R4l+i8faQLbHlNOy8bpHHi68EAGGDsovJe65dD/xCPCeM
gqFYB3sNOKI/DxJiEQTMA1aPvBto3CddFZaK071Ue9xj+K6+Jdj0bFoS+vPL57mk
q+fAW5VwyoVMxOyAh38A0LYsIirBhFW9Mm+DpnzSvACap7zq8OvwJwrP3fRKFSE+
Xro6OzBkT3wxEiqVcKtSUtq4hD0+jiDkH2cSeT2VLR6XtjysHfBeIC/71oOlTNwb
rPDp0xfJK4HjzYTRF/Yuf5qxjLUA7+fTZxqxiQWwSLituxl55j4xmbaGBbBG7+ks
FZdxWv+ukvAZBeVAg8U2INspVOuw9VTeOGSx
-----END CERTIFICATE-----`;

const { ada, bob, eve, org } = await begin('Sign-on', { bob: 'create' });
const api = ada.api.orgs;
let okta, team;

await step('a provider begins with a label', async () => {
    const made = await api.createOrganizationSamlProvider(org, { label: 'Okta' });
    okta = made.data;
    assert.equal(okta.label, 'Okta');
    assert.equal(okta.status, 'pending');
    assert.equal(okta.defaultTeam, undefined);
    assert.notEqual(okta.service.acsURL, okta.service.startURL);
    await leadsTo(ada, made);
    assert.deepEqual((await api.listSsoProviderLoginsInOrganization(org)).data.items, []);
});

await step('it becomes active when it is complete', async () => {
    ({ data: team } = await api.createOrganizationTeam(org, { title: 'Staff' }));
    const { data: half } = await api.updateOrganizationSamlProvider(org, okta.id, { entityID: 'https://idp.example.com/metadata', defaultRole: 'read', defaultTeam: team.id });
    assert.equal(half.status, 'pending');
    assert.equal(half.defaultRole, 'read');
    assert.equal(half.defaultTeam.id, team.id);
    assert.equal(half.defaultTeam.title, 'Staff');
    const { data: whole } = await api.updateOrganizationSamlProvider(org, okta.id, { ssoURL: 'https://idp.example.com/sso', certificate });
    assert.equal(whole.status, 'active');
    assert.equal(whole.entityID, 'https://idp.example.com/metadata');
    assert.equal(whole.ssoURL, 'https://idp.example.com/sso');
    assert.equal(whole.certificate.trim(), certificate.trim());
    assert.deepEqual((await api.getOrganizationSamlProviderById(org, okta.id)).data, whole);
});

await step('people are offered to log in by it', async () => {
    const { data } = await api.listSsoProviderLoginsInOrganization(org);
    assert.deepEqual(data.items, [{ id: okta.id, label: 'Okta', startURL: okta.service.startURL }]);
    assert.equal(data.count, undefined);
});

await step('a role can be nobody in particular', async () => {
    assert.equal((await api.updateOrganizationSamlProvider(org, okta.id, { defaultRole: null })).data.defaultRole, null);
    assert.equal((await api.updateOrganizationSamlProvider(org, okta.id, { label: 'Okta 2' })).data.defaultRole, null);
});

await step('several are listed', async () => {
    for (const label of ['Entra', 'Keycloak']) {
        await api.createOrganizationSamlProvider(org, {
            label, entityID: `https://${label}.example.com`.toLowerCase(), ssoURL: `https://${label}.example.com/sso`.toLowerCase(), certificate, defaultRole: 'comment',
        });
    }
    const providers = await all((q) => api.listSamlProvidersInOrganizationById(org, q), 2);
    assert.deepEqual(providers.map((p) => [p.label, p.status]).sort(), [['Entra', 'active'], ['Keycloak', 'active'], ['Okta 2', 'active']]);
    assert.equal((await api.listSsoProviderLoginsInOrganization(org)).data.items.length, 3);
});

await step('who may not, cannot', async () => {
    await refused(bob.api.orgs.createOrganizationSamlProvider(org, { label: 'Mine' }), 403);
    await refused(bob.api.orgs.updateOrganizationSamlProvider(org, okta.id, { label: 'Mine' }), 403);
    await refused(bob.api.orgs.deleteOrganizationSamlProvider(org, okta.id), 403);
    await refused(eve.api.orgs.getOrganizationSamlProviderById(org, okta.id), 404);
    await refused(eve.api.orgs.listSamlProvidersInOrganizationById(org), 404);
});

await step('bad input is named', async () => {
    await badField(ada, 'POST', `/orgs/${org}/saml`, {}, 'label');
    await badField(ada, 'POST', `/orgs/${org}/saml`, { label: 'x'.repeat(31) }, 'label');
    await badField(ada, 'PATCH', `/orgs/${org}/saml/${okta.id}`, { ssoURL: 'not a url' }, 'ssoURL');
    await badField(ada, 'PATCH', `/orgs/${org}/saml/${okta.id}`, { certificate: 'x'.repeat(10001) }, 'certificate');
    await badField(ada, 'PATCH', `/orgs/${org}/saml/${okta.id}`, { defaultRole: 'owner' }, 'defaultRole');
    await refused(api.updateOrganizationSamlProvider(org, okta.id, { defaultTeam: 'none' }), 400, 404);
    await refused(api.updateOrganizationSamlProvider(org, 'nothing', { label: 'x' }), 404);
});

await step('a provider is removed, and removing it again changes nothing', async () => {
    await api.deleteOrganizationSamlProvider(org, okta.id);
    await api.deleteOrganizationSamlProvider(org, okta.id);
    await refused(api.getOrganizationSamlProviderById(org, okta.id), 404);
    assert.equal((await api.listSsoProviderLoginsInOrganization(org)).data.items.length, 2);
});
