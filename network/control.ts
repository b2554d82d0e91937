import { rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Environment } from './parts.ts'
import { MACHINES, type MachineId } from './plan.ts'

interface Request {
  readonly action: 'start' | 'stop'
  readonly machine: string
  readonly part: string
  /** For a start: variables for this start only. */
  readonly environment?: Environment
}

interface Parts {
  startPart(machine: MachineId, part: string, environment?: Environment): Promise<void>
  stopPart(machine: MachineId, part: string): Promise<void>
}

/** The longest path that the kernel takes for a socket. */
const LONGEST_PATH = 107

/** Where the commands `start` and `stop` reach the network that runs. Only root may connect: the socket has mode 0600. */
export class Control {
  readonly #server: Server
  readonly #file: string

  private constructor(server: Server, file: string) {
    this.#server = server
    this.#file = file
  }

  static async listen(file: string, parts: Parts): Promise<Control> {
    if (Buffer.byteLength(file) > LONGEST_PATH)
      throw new Error(`The path ${file} is too long for a socket. Choose a shorter one with DRAWBRIDGE_NETWORK_STATE.`)
    rmSync(file, { force: true })
    const server = createServer({ allowHalfOpen: true }, (socket) => void answer(socket, parts))
    const mask = process.umask(0o177)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(file, resolve)
    }).finally(() => process.umask(mask))
    return new Control(server, file)
  }

  close(): void {
    this.#server.close()
    rmSync(this.#file, { force: true })
  }
}

async function answer(socket: Socket, parts: Parts): Promise<void> {
  socket.on('error', () => undefined)
  try {
    const { action, machine, part, environment } = JSON.parse(await text(socket)) as Request
    assertPart(machine, part)
    if (action === 'start') await parts.startPart(machine, part, environment)
    else await parts.stopPart(machine, part)
    socket.end()
  } catch (error) {
    socket.end(error instanceof Error ? error.message : String(error))
  }
}

function assertPart(machine: string, part: string): asserts machine is MachineId {
  const known = Object.entries(MACHINES).filter(([, { parts }]) => parts.length > 0)
  const parts = known.find(([id]) => id === machine)?.[1].parts
  if (!parts)
    throw new Error(`${machine} is not a machine with parts. Choose one of ${known.map(([id]) => id).join(', ')}.`)
  if (!parts.includes(part)) throw new Error(`${machine} has no part ${part}. Choose one of ${parts.join(', ')}.`)
}

/** Asks the network that runs on this socket. Rejects with its refusal, or if none runs. */
export async function askNetwork(file: string, request: Request): Promise<void> {
  const socket = connect({ path: file, allowHalfOpen: true })
  socket.end(JSON.stringify(request))
  const refusal = await text(socket).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`No network answers at ${file} (${error.code}). Start one with \`npm run network\`.`)
  })
  if (refusal !== '') throw new Error(refusal)
}
