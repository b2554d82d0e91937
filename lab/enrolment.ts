import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { launcher } from './checkout.ts'

const run = promisify(execFile)

/** A program and its arguments. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
}

/** A configuration, and how a program is started on its machine. */
interface Place {
  readonly config: string
  readonly on?: (command: Command) => Command
}

/** A command `drawbridge edge enroll` that waits for the agent. */
export interface EnrolmentUnderWay {
  readonly code: string
  /** Rejects if the agent was not enrolled. */
  readonly ended: Promise<void>
  cancel(): void
}

/** Starts the command. Resolves when it has printed the code. */
export async function beginEnrolment({ program, args }: Command): Promise<EnrolmentUnderWay> {
  const waiting = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [output, errors] = ['', '']
  waiting.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const exited = new Promise<number | null>((resolve) => waiting.once('exit', resolve))
  const code = await new Promise<string>((resolve, reject) => {
    waiting.stdout.on('data', (chunk) => {
      output += chunk
      const [, found] = /\n(\S{100,})\n/.exec(output) ?? []
      if (found !== undefined) resolve(found)
    })
    void exited.then(() => reject(new Error(`No code was made: ${errors}`)))
  })
  const ended = exited.then((status) => {
    if (status !== 0) throw new Error(`The agent was not enrolled: ${errors}`)
  })
  // Whoever waits for it handles the rejection.
  ended.catch(() => undefined)
  return { code, ended, cancel: () => waiting.kill() }
}

/** Runs a program with a text on its standard input. Resolves with its output. */
export async function runWithInput({ program, args }: Command, text: string): Promise<string> {
  const running = run(program, args)
  running.child.stdin?.end(text)
  return (await running).stdout
}

/** The fingerprint in the output of `drawbridge edge join --prepare`. */
export const fingerprintIn = (output: string): string => /SHA256:\S{43}/.exec(output)?.[0] ?? ''

/** Enrolls an agent as a script does: a key on the machine of the edge, a code for it where the service is, and the code on that machine. */
export async function enrollAgent(server: string, service: Place, agent: Place): Promise<void> {
  const join = (...words: string[]) => drawbridge(agent, 'edge', 'join', '--config', agent.config, ...words)
  const fingerprint = fingerprintIn(await runWithInput(join('--prepare'), ''))
  const wanted = ['enroll', server, '--fingerprint', fingerprint, '--config', service.config]
  const enrolment = await beginEnrolment(drawbridge(service, 'edge', ...wanted))
  await runWithInput(join(), enrolment.code).catch((error: unknown) => {
    enrolment.cancel()
    throw error
  })
  await enrolment.ended
}

const drawbridge = ({ on = (command) => command }: Place, ...args: string[]): Command =>
  on({ program: process.execPath, args: [launcher(), ...args] })
