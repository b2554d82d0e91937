import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import type { Agent } from '../../../src/edge/agent/agent.ts'
import { SecureListener } from '../../../src/edge/agent/secure-listener.ts'
import { AgentIdentity } from '../../../src/edge/authority/agent-identity.ts'
import { newKey, type PemIdentity } from '../../../src/edge/authority/authority.ts'
import { EdgeTrust } from '../../../src/edge/authority/trust.ts'
import { AgentClient } from '../../../src/edge/remote/agent-client.ts'
import { PROTOCOL } from '../../../src/edge/wire/verbs.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { secretShelf } from '../../support/edge/secret-shelf.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

const folder = tempFolder()
const refused: string[] = []
const ADDRESS = '127.0.0.1'
let port = 0
let trust: EdgeTrust
let listener: SecureListener
let identity: AgentIdentity

const newTrust = () => new EdgeTrust({ shelf: secretShelf(), instance: 'one', now: Date.now })

const fingerprintOf = (pem = ''): string => new X509Certificate(pem).fingerprint256

const DESCRIBED = {
  ...{ protocol: PROTOCOL, version: '1', server: '23', boot: 'b', pid: 1, epoch: 0, generation: null },
  floors: [],
  rights: { user: 0, signalsNginx: true, writesFolder: true },
  nginx: {
    isRunning: true,
    folder: '/x',
    address: ADDRESS,
    listen: [],
    ports: { http: 80, https: 443 },
  },
}

beforeAll(async () => {
  port = await freePort()
  trust = newTrust()
  identity = new AgentIdentity(join(folder.path, '23'), '23')
  const { certificate, ca } = await trust.enroll('23', await identity.prepareKey())
  await identity.install(certificate, ca)
  const handlers = {
    describe: async () => DESCRIBED,
    visit: async () => [],
    'prepare-key': () => identity.prepareKey(),
    'install-certificate': (pem: string) => identity.install(pem).then(() => ({})),
  }
  const agent = { server: '23', handlers } as unknown as Agent
  const onRefused = ({ reason }: { reason: string }) => void refused.push(reason)
  listener = new SecureListener({ agent, onRefused, onUnexpected: () => undefined, clock: systemClock }, identity, {
    address: ADDRESS,
    port,
  })
  listener.start(() => undefined)
  await until(
    'the agent listens',
    async () =>
      (await clientOf(trust)
        .call('visit', NOTHING)
        .catch(() => undefined)) !== undefined,
  )
})
afterAll(async () => {
  await listener.close()
  folder[Symbol.dispose]()
})

/** Asks an agent for nothing, so that it only has to accept the message. */
const NOTHING = { questions: [] }

const clientOf = (of: EdgeTrust, server = '23', onDue = () => undefined) =>
  new AgentClient({
    clock: systemClock,
    server,
    at: { address: ADDRESS, port, tls: { identity: () => of.identity(server), onDue } },
  })

/** Shows any certificate, and accepts every one of the agent. */
const showing = (shown: PemIdentity) =>
  new AgentClient({
    clock: systemClock,
    server: '23',
    at: {
      address: ADDRESS,
      port,
      tls: {
        identity: async () => ({ ...shown, version: 'x', assertEnrolled: () => undefined }),
        onDue: () => undefined,
      },
    },
  })

test('the certificate of another agent is not that of a service', async () => {
  const other = new AgentIdentity(join(folder.path, '73'), '73')
  const { certificate, ca } = await trust.enroll('73', await other.prepareKey())
  await other.install(certificate, ca)
  const shown = other.read()
  if (!shown) throw new Error('It has no certificate.')
  await expect(showing(shown).call('visit', NOTHING)).rejects.toThrow(/does not answer/)
})

test('a certificate of another authority is refused', async () => {
  const foreign = (await newTrust().authority()).issueService('one', 9, Date.now())
  const { ca } = await trust.identity('23')
  await expect(showing({ ...foreign, ca }).call('visit', NOTHING)).rejects.toThrow(/does not answer/)
  expect(identity.edition).toBe(1)
})

test('a certificate that has run out is refused', async () => {
  const long = Date.now() - 30 * 86_400_000
  const shown = (await trust.authority()).issueService('one', 1, long)
  await expect(showing(shown).call('visit', NOTHING)).rejects.toThrow(/does not answer/)
})

test('a revoked certificate of a service is refused by an agent that has seen a newer one', async () => {
  const former = (await trust.authority()).issueService('one', 1, Date.now())
  expect(await showing(former).call('visit', NOTHING)).toEqual([])
  await trust.revokeServices()
  expect(await clientOf(trust).call('visit', NOTHING)).toEqual([])
  const said = '"The certificate was revoked."'
  await expect(showing(former).call('visit', NOTHING)).rejects.toMatchObject({ said })
  expect(refused).toContain('The certificate was revoked.')
})

test('an agent that is not the one enrolled is refused by the service', async () => {
  await expect(clientOf(trust, '73').call('visit', NOTHING)).rejects.toThrow(
    'its certificate is not that of the agent of edge 73',
  )
  await expect(clientOf(newTrust()).call('visit', NOTHING)).rejects.toThrow(/does not answer/)
})

test('a new certificate is installed over the connection, and only for the key of this agent', async () => {
  const client = clientOf(trust)
  const publicKey = await client.call('prepare-key', {})
  const { certificate: foreign } = await newTrust().enroll('23', publicKey)
  await expect(client.call('install-certificate', foreign)).rejects.toThrow()
  const { certificate } = await trust.replace('23', publicKey, fingerprintOf(identity.read()?.cert))
  await client.call('install-certificate', certificate)
  await until('the new certificate is shown', async () => {
    const seen = await trust.identity('23')
    const only = {
      ...seen,
      version: 'y',
      assertEnrolled: (shown: { toString(): string }) => expect(shown.toString()).toBe(certificate),
    }
    const at = { address: ADDRESS, port, tls: { identity: async () => only, onDue: () => undefined } }
    return (
      (await new AgentClient({ clock: systemClock, server: '23', at })
        .call('visit', NOTHING)
        .catch(() => undefined)) !== undefined
    )
  })
})

describe('while the certificate of an agent is replaced', () => {
  const shownBy = async (of: EdgeTrust, certificate: string) =>
    (await of.identity('23')).assertEnrolled(new X509Certificate(certificate))

  /** The agent has shown its certificate and prepared a new key. `meanwhile`: what an administrator does then. */
  const replaced = async (meanwhile: (of: EdgeTrust) => Promise<unknown>) => {
    const of = newTrust()
    const former = (await of.enroll('23', newKey().publicKey)).certificate
    const done = await meanwhile(of)
    const issued = await of.replace('23', newKey().publicKey, fingerprintOf(former)).catch((error: unknown) => error)
    return { of, done, former, issued }
  }

  // Row 37 of the threats.
  test('a revocation stays', async () => {
    const { of, former, issued } = await replaced((trusted) => trusted.revoke('23'))
    expect(issued).toMatchObject({ message: expect.stringContaining('was revoked meanwhile') })
    await expect(shownBy(of, former)).rejects.toThrow('it was revoked')
  })

  test('the agent that is enrolled in its place is the only one', async () => {
    const { of, former, done, issued } = await replaced((trusted) => trusted.enroll('23', newKey().publicKey))
    expect(issued).toBeInstanceOf(Error)
    await expect(shownBy(of, former)).rejects.toThrow('it was revoked')
    await shownBy(of, (done as { certificate: string }).certificate)
  })
})
