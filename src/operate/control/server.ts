import { lstatSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../../primitives/clock.ts'
import { type DutyName, type DutyReport, dutyUnderWay } from '../../runs/duties.ts'
import type { Log } from '../../runtime/log.ts'
import { UnknownOperation } from './operations.ts'
import { type Ask, askIn, type ControlAnswer, Lines, socketIn } from './protocol.ts'

interface ControlParts {
  /** Runs a duty now and says what it did. Never rejects. */
  readonly perform: (duty: DutyName) => Promise<DutyReport>
  /** Reads the configuration again. */
  readonly reload: () => Promise<unknown>
  /** One of `operations.ts`. */
  readonly operate: (name: string, args: unknown) => Promise<unknown>
  readonly log: Log
  readonly clock: Clock
}

interface ControlSocket {
  /** Refuses new requests, ends all connections and removes the socket. */
  close(): void
}

/** Connections above the first number are refused with a sentence, above the second without one. */
const MOST_SERVED = 8
const MOST_CONNECTIONS = 16
/** How long a connection may take to send its request, and to read its last answer. */
const IDLE_MS = 5_000
/** A request is answered after this time, even if a duty takes longer. */
const DUTY_MINUTES = 5
/** How often a caller is told that its command is under way. */
const BEAT_MS = 10_000
/** Characters. Each has at most 6 bytes in JSON. */
const PART_LENGTH = 8_000

/**
 * Listens on `control.sock` in the state folder. Only the user of the service and root can connect: the folder has mode 0700 and
 * the socket 0600. The caller holds the lock of the folder, so a socket that is there belongs to a service that has ended.
 */
export async function listenForCommands(stateDir: string, parts: ControlParts): Promise<ControlSocket> {
  const { path, close } = socketIn(stateDir)
  const open = new Set<Socket>()
  // A caller that has sent everything may close its side and still gets its answers.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    if (open.size > MOST_SERVED)
      end(socket, { answer: 'refused', reason: 'The service has too many requests here.' }, parts.clock)
    else serveOne(socket, parts)
  })
  server.maxConnections = MOST_CONNECTIONS
  try {
    removeLeft(path, join(stateDir, 'control.sock'))
    await listen(server, path)
  } catch (error) {
    close()
    throw error
  }
  // The socket must not keep the process alive.
  server.unref()
  return {
    close() {
      // Node removes the socket through the folder, which stays open until then.
      server.close(close)
      for (const socket of open) socket.destroy()
    },
  }
}

/** Neither follows nor removes a link or a file of another user. */
function removeLeft(path: string, name: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isSocket()) throw new Error(`${name} is not a socket. Find out who put it there, then move it away.`)
  rmSync(path)
}

/** Binding fails if anything is at the path, also a link. */
function listen(server: Server, path: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  const former = process.umask(0o177)
  try {
    server.listen(path, resolve)
  } finally {
    process.umask(former)
  }
  return promise.finally(() => server.off('error', reject))
}

/** Reads one request and answers it. What follows the request is ignored. */
function serveOne(socket: Socket, parts: ControlParts): void {
  const lines = new Lines()
  const leave = () => socket.destroy()
  const { clock } = parts
  const refuse = (reason: string) => end(socket, { answer: 'refused', reason }, clock)
  const read = (chunk: Buffer) => {
    try {
      const [first] = lines.add(chunk)
      if (first === undefined) return
      stopReading()
      const ask = askIn(first)
      if (!ask) return refuse(new UnknownOperation().message)
      answer(ask, socket, parts).then(
        () => end(socket, { answer: 'done' }, clock),
        (error: unknown) => refuse(error instanceof Error ? error.message : String(error)),
      )
    } catch {
      stopReading()
      refuse('The request is too long.')
    }
  }
  const late = clock.after(IDLE_MS, leave)
  const stopReading = () => {
    late.cancel()
    socket.off('data', read)
    socket.off('end', leave)
    // Nothing else is read, but the end of the connection is noticed.
    socket.resume()
  }
  socket.on('data', read)
  socket.on('end', leave)
  socket.on('error', leave)
  socket.on('close', () => late.cancel())
}

/** Sends the last answer. Does not wait for a caller that does not read it. */
function end(socket: Socket, answer: ControlAnswer, clock: Clock): void {
  socket.on('error', () => socket.destroy())
  const late = clock.after(IDLE_MS, () => socket.destroy(), { ref: false })
  socket.on('close', () => late.cancel())
  socket.end(lineOf(answer))
}

const lineOf = (answer: ControlAnswer): string => `${JSON.stringify(answer)}\n`

/** Runs the duties even if the caller has disconnected. */
async function answer(ask: Ask, socket: Socket, parts: ControlParts): Promise<void> {
  const { log, clock } = parts
  const send = (line: ControlAnswer) => socket.writable && socket.write(lineOf(line))
  if (ask.ask === 'housekeeping') return runDuties(ask.duties, send, parts)
  const name = ask.ask === 'reload' ? 'reload' : ask.name
  const beat = clock.every(BEAT_MS, () => send({ answer: 'working' }))
  try {
    const result = await (ask.ask === 'reload' ? parts.reload() : parts.operate(ask.name, ask.args))
    log.info({ event: 'command_done', command: name }, 'A command was carried out for the control socket.')
    const text = JSON.stringify(result)
    for (let at = 0; at < text.length; at += PART_LENGTH)
      send({ answer: 'part', text: text.slice(at, at + PART_LENGTH) })
  } catch (error) {
    if (!(error instanceof UnknownOperation))
      log.warn({ event: 'command_failed', command: name, err: error }, 'A command for the control socket failed.')
    throw error
  } finally {
    beat.cancel()
  }
}

async function runDuties(
  duties: readonly DutyName[],
  send: (line: ControlAnswer) => unknown,
  { perform, log, clock }: ControlParts,
): Promise<void> {
  for (const duty of duties) {
    const report = await within(DUTY_MINUTES, duty, perform(duty), clock)
    const { ok, changed } = report
    log.info({ event: 'duty_by_request', duty, ok, changed, sentence: report.sentence }, 'A duty was run by request.')
    send({ answer: 'report', ...report, hosts: [...report.hosts] })
  }
}

async function within(minutes: number, duty: DutyName, work: Promise<DutyReport>, clock: Clock): Promise<DutyReport> {
  const { promise, resolve } = Promise.withResolvers<DutyReport>()
  const timer = clock.after(minutes * 60_000, () => resolve(dutyUnderWay(duty, minutes)))
  return Promise.race([work, promise]).finally(() => timer.cancel())
}
