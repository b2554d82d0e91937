import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { commandLine } from '../../../src/compose/command-line.ts'
import { AgentIdentity } from '../../../src/edge/authority/agent-identity.ts'
import { keyFingerprint, newKey } from '../../../src/edge/authority/authority.ts'
import { joinWith, openEnrolment } from '../../../src/edge/authority/enrolment.ts'
import { EdgeTrust } from '../../../src/edge/authority/trust.ts'
import { codeFrom } from '../../../src/operate/edge/code.ts'
import { systemClock } from '../../../src/primitives/clock.ts'
import { secretShelf } from '../../support/edge/secret-shelf.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** THREATS row 37: another user of the edge's machine, or of the network, is faster than the agent. */
const folder = tempFolder()
const ADDRESS = '127.0.0.1'
let trust: EdgeTrust

beforeEach(() => {
  trust = new EdgeTrust({ shelf: secretShelf(), instance: 'one', now: Date.now })
})
afterAll(() => folder[Symbol.dispose]())

const open = (confirm: (fingerprint: string) => Promise<void> = async () => undefined) =>
  openEnrolment(trust, { server: '25', address: ADDRESS, port: 0 }, { clock: systemClock, confirm })

/** Resolves with the certificate, or with why there is none. */
const joining = (code: string, publicKey = newKey().publicKey) =>
  joinWith(code, '25', publicKey, systemClock).then(
    ({ certificate }) => certificate,
    (error: Error) => error,
  )

/** How many certificates are accepted. */
const enrolled = async () => (await trust.identity('25')).version.split(' ').filter((word) => word !== '').length - 1

test('of two that come with one code at the same time, one is enrolled and the other is refused', async () => {
  const enrolment = await open()
  const answers = await Promise.all([joining(enrolment.code), joining(enrolment.code)])
  await enrolment.joined
  expect(answers.filter((answer) => typeof answer === 'string')).toHaveLength(1)
  expect(await enrolled()).toBe(1)
})

test('a key that is not confirmed is not enrolled, and its code is used up', async () => {
  const [thief, agent] = [newKey().publicKey, newKey().publicKey]
  const shown: string[] = []
  const enrolment = await open(async (fingerprint) => {
    shown.push(fingerprint)
    throw new Error('It is another key.')
  })
  expect(String(await joining(enrolment.code, thief))).toContain('The key of this agent was not confirmed.')
  await expect(enrolment.joined).rejects.toThrow('It is another key.')
  expect(shown).toEqual([keyFingerprint(thief)])
  expect(await joining(enrolment.code, agent)).toBeInstanceOf(Error)
  expect(await enrolled()).toBe(0)
})

test('while a key waits for a person, nobody else is let in', async () => {
  const { promise: confirmed, resolve: confirm } = Promise.withResolvers<void>()
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const enrolment = await open(() => {
    ask()
    return confirmed
  })
  const first = joining(enrolment.code)
  await asked
  expect(String(await joining(enrolment.code))).toContain('somebody has used it already')
  confirm()
  expect(await first).toEqual(expect.any(String))
  await enrolment.joined
})

test('the code is no argument, and is not read from a file that others may read', async () => {
  const join_ = commandLine()
    .commands.find((command) => command.name() === 'edge')
    ?.commands.find((command) => command.name() === 'join')
  expect(join_?.registeredArguments).toEqual([])
  const file = join(folder.path, 'code')
  writeFileSync(file, 'the-code\n')
  chmodSync(file, 0o644)
  await expect(codeFrom(file, systemClock)).rejects.toThrow('chmod 0600')
  chmodSync(file, 0o600)
  expect(await codeFrom(file, systemClock)).toBe('the-code')
})

test('a key that was prepared is the one that joins', async () => {
  const identity = new AgentIdentity(join(folder.path, 'prepared'), '25')
  const prepared = await identity.preparedKey()
  expect(await identity.preparedKey()).toBe(prepared)
  const { certificate, ca } = await trust.enroll('25', prepared)
  await identity.install(certificate, ca)
  expect(await identity.preparedKey()).not.toBe(prepared)
})

test('a code works once, only for its server, and not for a place that it does not name', async () => {
  const enrolment = await open()
  const agent = new AgentIdentity(join(folder.path, '25'), '25')
  const publicKey = await agent.prepareKey()
  await expect(joinWith(enrolment.code, '23', publicKey, systemClock)).rejects.toThrow('The code is for edge 25')
  const [server, address, at, shown, secret] = JSON.parse(Buffer.from(enrolment.code, 'base64url').toString())
  const code = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
  await expect(joinWith(code(server, address, at, shown, `${secret}x`), '25', publicKey, systemClock)).rejects.toThrow(
    'The service refused the code: it is wrong, or somebody has used it already. Run "drawbridge edge enroll 25" again',
  )
  await expect(
    joinWith(code(server, address, at, shown.replaceAll(/[0-9]/g, '0'), secret), '25', publicKey, systemClock),
  ).rejects.toThrow('another program answers there')
  const { certificate, ca } = await joinWith(enrolment.code, '25', publicKey, systemClock)
  await agent.install(certificate, ca)
  await enrolment.joined
  await expect(joinWith(enrolment.code, '25', publicKey, systemClock)).rejects.toThrow('could not be reached')
})

test('five wrong codes end an enrolment', async () => {
  const enrolment = await open()
  const parts = JSON.parse(Buffer.from(enrolment.code, 'base64url').toString())
  const wrong = Buffer.from(JSON.stringify([...parts.slice(0, 4), 'guess'])).toString('base64url')
  for (let guess = 0; guess < 5; guess += 1) await expect(joinWith(wrong, '25', 'x', systemClock)).rejects.toThrow()
  await expect(enrolment.joined).rejects.toThrow(
    'Too many wrong codes came (5), so this code has ended and nothing was enrolled.',
  )
  // Also with the right one.
  expect(await joining(enrolment.code)).toBeInstanceOf(Error)
})
