import { lstatSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import type { ConfigChanges } from '../../config/live.ts'
import { systemClock } from '../../primitives/clock.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import { DUTIES, type DutyName, type DutyReport } from '../../runs/duties.ts'
import type { ArgsOf, OperationName, ResultOf } from './operations.ts'
import { type Ask, answerIn, type ControlAnswer, Lines, socketIn } from './protocol.ts'

/** The service answers for each duty within 5 minutes, and says every 10 s that an operation is under way. */
const PATIENCE_MS = 6 * 60_000
const LONGEST_RESULT = 64 * 1024 * 1024

/** Asks the service of a state folder to run these duties now. Resolves with what each did. */
export async function askForDuties(stateDir: string, duties: readonly DutyName[] = DUTIES): Promise<DutyReport[]> {
  const answers = await ask(stateDir, { ask: 'housekeeping', duties: [...duties] })
  return answers.flatMap((each) => {
    if (each.answer !== 'report') return []
    const { answer: _, ...report } = each
    return [report]
  })
}

/** `faults`: why the file was not taken over. Then nothing has changed. */
export interface ReloadOutcome extends ConfigChanges {
  readonly faults: readonly string[]
}

/** Lets the service of a state folder read its configuration again. Resolves with what it did. */
export const askForReload = async (stateDir: string): Promise<ReloadOutcome> =>
  (await askForResult(stateDir, { ask: 'reload' })) as ReloadOutcome

/** Lets the service of a state folder perform an operation. Rejects with `NoService` if there is none. */
export const askForOperation = async <Name extends OperationName>(
  stateDir: string,
  name: Name,
  args: ArgsOf<Name>,
): Promise<ResultOf<Name>> => (await askForResult(stateDir, { ask: 'operation', name, args })) as ResultOf<Name>

async function askForResult(stateDir: string, asked: Ask): Promise<unknown> {
  const answers = await ask(stateDir, asked)
  return JSON.parse(answers.map((each) => (each.answer === 'part' ? each.text : '')).join(''))
}

/** Whether a service listens in the state folder. */
export async function isServed(stateDir: string): Promise<boolean> {
  try {
    const connection = await connect(stateDir)
    connection.destroy()
    return true
  } catch (error) {
    if (error instanceof NoService) return false
    throw error
  }
}

class NoService extends Error {}

/** Sends one request to the service of a state folder. Resolves with all answers before the last. */
async function ask(stateDir: string, asked: Ask): Promise<ControlAnswer[]> {
  const connection = await connect(stateDir)
  try {
    return await exchange(connection, asked, stateDir)
  } finally {
    connection.destroy()
  }
}

async function connect(stateDir: string): Promise<Socket> {
  try {
    const { path, close } = socketIn(stateDir)
    try {
      // A link is not followed: it may lead to the socket of another program.
      if (!lstatSync(path).isSocket()) throw new Error(`control.sock in ${stateDir} is not a socket.`)
      return await connected(createConnection(path))
    } finally {
      close()
    }
  } catch (error) {
    throw sentenceFor(error, stateDir)
  }
}

function connected(socket: Socket): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  socket.once('error', reject)
  socket.once('connect', () => resolve(socket))
  return promise.finally(() => socket.off('error', reject))
}

function sentenceFor(error: unknown, stateDir: string): unknown {
  const code = errorCode(error)
  if (code === 'ENOENT' || code === 'ECONNREFUSED')
    return new NoService(
      `No service uses the state folder ${stateDir}. Start it: systemctl start drawbridge, or drawbridge serve --config FILE.`,
    )
  if (code === 'EACCES' || code === 'EPERM')
    return new Error(`You may not ask the service of ${stateDir}. Run the command as its user, or as root.`)
  return error
}

function exchange(socket: Socket, asked: Ask, stateDir: string): Promise<ControlAnswer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<ControlAnswer[]>()
  const lines = new Lines()
  const answers: ControlAnswer[] = []
  let length = 0
  const fail = (sentence: string) => reject(new Error(`The service of ${stateDir} ${sentence}`))
  const patience = () =>
    systemClock.after(PATIENCE_MS, () => fail(`has said nothing for ${PATIENCE_MS / 60_000} minutes. See its log.`))
  let late = patience()
  const take = (line: string) => {
    const answer = answerIn(line)
    if (!answer) fail('sent an answer that this command does not know. Restart the service if it was upgraded.')
    else if (answer.answer === 'refused') reject(new Error(answer.reason))
    else if (answer.answer === 'done') resolve(answers)
    else {
      answers.push(answer)
      length += line.length
      if (length > LONGEST_RESULT) fail('sent an answer that is too long.')
    }
  }
  socket.on('data', (chunk: Buffer) => {
    late.cancel()
    late = patience()
    try {
      for (const line of lines.add(chunk)) take(line)
    } catch {
      fail('sent an answer that is too long.')
    }
  })
  socket.on('error', () => fail('ended before it said what it did. See its log.'))
  socket.on('close', () => fail('ended before it said what it did. See its log.'))
  socket.write(`${JSON.stringify(asked)}\n`)
  return promise.finally(() => late.cancel())
}
