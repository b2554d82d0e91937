import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../lab/free-port.ts'
import type { Agent } from '../../../src/edge/agent/agent.ts'
import { SecureListener } from '../../../src/edge/agent/secure-listener.ts'
import { AgentIdentity } from '../../../src/edge/authority/agent-identity.ts'
import { isDueForReplacement, newKey, type PemIdentity } from '../../../src/edge/authority/authority.ts'
import { EdgeTrust } from '../../../src/edge/authority/trust.ts'
import { AgentClient } from '../../../src/edge/remote/agent-client.ts'
import { PATH_OF, PROTOCOL } from '../../../src/edge/wire/verbs.ts'
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
/** How far the clock of the agent is ahead. */
let ahead = 0
const clock = { ...systemClock, now: () => systemClock.now() + ahead }

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
  identity = await joined('23', trust)
  listener = await listening(identity, port, trust)
})
afterAll(async () => {
  await listener.close()
  folder[Symbol.dispose]()
})

/** An agent of edge 23 that has its certificate, in a folder of its own. */
async function joined(name: string, of: EdgeTrust): Promise<AgentIdentity> {
  const own = new AgentIdentity(join(folder.path, name), '23')
  await joins(own, of)
  return own
}

async function joins(own: AgentIdentity, of: EdgeTrust): Promise<void> {
  const { certificate, ca } = await of.enroll('23', await own.prepareKey())
  await own.install(certificate, ca)
}

async function listening(own: AgentIdentity, at: number, of: EdgeTrust): Promise<SecureListener> {
  const handlers = {
    describe: async () => DESCRIBED,
    visit: async () => [],
    'prepare-key': () => own.prepareKey(),
    'install-certificate': (pem: string) => own.install(pem).then(() => ({})),
  }
  const agent = { server: '23', handlers } as unknown as Agent
  const onRefused = ({ reason }: { reason: string }) => void refused.push(reason)
  const opened = new SecureListener({ agent, onRefused, onUnexpected: () => undefined, clock }, own, {
    address: ADDRESS,
    port: at,
  })
  opened.start(() => undefined)
  await until('the agent listens', () => isAnswered(of, at))
  return opened
}

const isAnswered = async (of: EdgeTrust, at = port): Promise<boolean> =>
  (await clientOf(of, '23', at)
    .call('visit', NOTHING)
    .catch(() => undefined)) !== undefined

/** Asks an agent for nothing, so that it only has to accept the message. */
const NOTHING = { questions: [] }

const clientOf = (of: EdgeTrust, server = '23', at = port) =>
  new AgentClient({
    clock: systemClock,
    server,
    at: { address: ADDRESS, port: at, tls: { identity: () => of.identity(server), onDue: () => undefined } },
  })

/** Shows any certificate, and accepts every one of the agent. */
const showing = (shown: PemIdentity, at = port) =>
  new AgentClient({
    clock: systemClock,
    server: '23',
    at: {
      address: ADDRESS,
      port: at,
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
  expect(identity.editionOf(ca)).toBe(1)
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

/** A connection with the certificate of a service, which accepts any agent. */
async function connected({ cert, key }: PemIdentity, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({
    host: ADDRESS,
    port,
    cert,
    key,
    minVersion: 'TLSv1.3',
    rejectUnauthorized: false,
    ...options,
  })
  // The agent may end it at any time.
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

const MESSAGE = JSON.stringify(NOTHING)

/** The first line and the body of the answer to NOTHING. */
async function answerOn(socket: Socket): Promise<string> {
  socket.write(
    `POST ${PATH_OF('visit')} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${MESSAGE.length}\r\n\r\n${MESSAGE}`,
  )
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  return chunk.toString()
}

test('a certificate that runs out on a kept connection is refused from then on', async () => {
  const shown = await trust.identity('23')
  const kept = await connected(shown)
  expect(await answerOn(kept)).toContain('200 OK')
  ahead = new X509Certificate(shown.cert).validToDate.getTime() + 1 - systemClock.now()
  try {
    expect(await answerOn(kept)).toContain('The certificate has run out.')
  } finally {
    ahead = 0
    kept.destroy()
  }
})

test('no session is resumed, also after the certificate of the agent was replaced', async () => {
  const shown = await trust.identity('23')
  const isResumed = async () => {
    const first = await connected(shown)
    const session = once(first, 'session') as Promise<[Buffer]>
    await answerOn(first)
    const second = await connected(shown, { session: first.getSession() ?? (await session)[0] })
    await answerOn(second)
    const isReused = second.isSessionReused()
    first.destroy()
    second.destroy()
    return isReused
  }
  expect(await isResumed()).toBe(false)
  const { certificate } = await trust.replace('23', await identity.prepareKey(), fingerprintOf(identity.read()?.cert))
  await identity.install(certificate)
  await until('the new certificate is shown', async () => {
    const socket = await connected(shown)
    const seen = socket.getPeerX509Certificate()?.fingerprint256
    socket.destroy()
    return seen === fingerprintOf(certificate)
  })
  expect(await isResumed()).toBe(false)
})

// Row 37 of the threats: the store and its key were stolen, so the agent joins with the authority of a new store.
describe('when an agent joins with another authority', () => {
  /** An agent that listens with a certificate of `former`. */
  async function moved(
    name: string,
    work: (its: { own: AgentIdentity; at: number; former: EdgeTrust }) => Promise<void>,
  ) {
    const [former, at] = [newTrust(), await freePort()]
    const own = await joined(name, former)
    const opened = await listening(own, at, former)
    await work({ own, at, former }).finally(() => opened.close())
  }

  test('a connection of the former one ends', () =>
    moved('ends', async ({ own, at, former }) => {
      const kept = await connected(await former.identity('23'), { port: at })
      expect(await answerOn(kept)).toContain('200 OK')
      const ended = once(kept, 'close')
      await joins(own, newTrust())
      await ended
    }))

  test('a handshake of the former one that was under way opens nothing', () =>
    moved('handshake', async ({ own, at, former }) => {
      const [next, shown] = [newTrust(), await former.identity('23')]
      const plain = connectPlain(at, ADDRESS)
      await once(plain, 'connect')
      await joins(own, next)
      await until('the agent has the new authority', () => isAnswered(next, at))
      const late = await connected(shown, { socket: plain })
      expect(await answerOn(late)).toContain('The certificate is not of the authority that enrolled this agent.')
      late.destroy()
    }))

  test('no edition of the former one keeps its services away', () =>
    moved('edition', async ({ own, at, former }) => {
      const next = newTrust()
      const forged = (await former.authority()).issueService('one', 999_999_999, Date.now())
      expect(await showing(forged, at).call('visit', NOTHING)).toEqual([])
      await joins(own, next)
      await until('the new authority is answered', () => isAnswered(next, at))
      const cas = [(await former.authority()).certificate, (await next.authority()).certificate]
      await until('both editions are written', () => cas.every((ca) => own.editionOf(ca) > 0))
      expect(cas.map((ca) => own.editionOf(ca))).toEqual([999_999_999, 1])
    }))
})

describe('a service whose clock was a day ahead', () => {
  const isValid = (pem: string) => {
    const { validFromDate, validToDate } = new X509Certificate(pem)
    return validFromDate.getTime() < Date.now() && Date.now() < validToDate.getTime()
  }

  test('shows a certificate that is valid as soon as the clock is set right', async () => {
    let now = Date.now() + 86_400_000
    const of = new EdgeTrust({ shelf: secretShelf(), instance: 'one', now: () => now })
    const former = await of.identity('23')
    now = Date.now()
    const { cert, ca } = await of.identity('23')
    expect([former.cert, cert, ca].map(isValid)).toEqual([false, true, true])
  })

  test('has issued certificates to agents that are valid, and due for replacement', async () => {
    const now = Date.now() + 86_400_000
    const of = new EdgeTrust({ shelf: secretShelf(), instance: 'one', now: () => now })
    const { certificate } = await of.enroll('23', newKey().publicKey)
    expect(isValid(certificate)).toBe(true)
    expect(isDueForReplacement(certificate, Date.now())).toBe(true)
    expect(isDueForReplacement(certificate, now)).toBe(false)
  })
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
