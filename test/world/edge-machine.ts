import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Edge, EdgeFault, type EdgeQuestion } from '../../src/edge/contract.ts'
import { PresentGeneration } from '../../src/nginx/generations/present.ts'
import { localEdge } from '../../src/nginx/local-edge.ts'
import type { Nginx } from '../../src/nginx/process/nginx.ts'
import type { EdgeLock } from '../../src/runs/engine/edge-lock.ts'
import { SimulatedNginx } from './nginx.ts'
import type { Process } from './process.ts'
import type { Timeline } from './timeline.ts'

const PORTS = { http: 80, https: 443 }

/** A machine with one nginx, its files, and the line over which services reach it. */
export class EdgeMachine {
  readonly server: string
  readonly folder: string
  readonly config: string
  readonly address: string
  readonly nginx: SimulatedNginx
  readonly present: PresentGeneration
  /** Nobody reaches it. It goes on serving. */
  isAway = false
  /** How long a message to it is on its way, beyond the usual time. */
  delayMs = 0
  readonly #timeline: Timeline

  constructor(timeline: Timeline, root: string, server: string) {
    const place = join(root, server)
    this.#timeline = timeline
    this.server = server
    this.address = `192.0.2.${server}`
    this.config = join(place, 'nginx.conf')
    this.folder = join(place, 'drawbridge')
    mkdirSync(this.folder, { recursive: true })
    writeFileSync(this.config, `http { include ${this.folder}/*.conf; }\n`)
    this.nginx = new SimulatedNginx(timeline, this.config)
    this.present = new PresentGeneration(this.folder)
  }

  /** Somebody gives a host another backend with an editor, and reloads nginx. False if it has no line there. */
  edit(host: string, target: string): boolean {
    const place = join(this.folder, 'current', 'backends')
    const names = existsSync(place) ? readdirSync(place) : []
    for (const name of names) {
      const file = join(place, name)
      const text = readFileSync(file, 'utf8')
      const edited = text.replace(new RegExp(`^${host.replaceAll('.', '\\.')} [^;]+;`, 'm'), `${host} ${target};`)
      if (edited === text) continue
      writeFileSync(`${file}~`, edited)
      renameSync(`${file}~`, file)
      this.nginx.start()
      return true
    }
    return false
  }

  /** The edge as a process of the service changes it: the real engine on these files. */
  edgeOf(process: Process, lock: EdgeLock): Edge {
    const { server, config, folder, address } = this
    const settings = {
      ...{ server, config, folder, address, prefix: undefined, clock: process.clock, ports: PORTS },
      ...{ binary: '/nonexistent', pidFile: '/nonexistent', errorLog: '/nonexistent', listen: [address] },
    }
    const local = localEdge(settings, {
      exclusive: (work) =>
        lock.hold(server, (turn) =>
          work({
            assertHeld: () => {
              process.assertAlive()
              turn.assertHeld()
            },
            ensureHeld: () => turn.ensureHeld(),
          }),
        ),
      listening: async () => ({ listen: [address], ports: PORTS }),
      nginx: this.#nginxOf(process),
    })
    return this.#reached(process, local)
  }

  #nginxOf(process: Process): Nginx {
    const { nginx } = this
    return {
      isRunning: nginx.isRunning,
      ...process.gated({
        test: (config: string) => nginx.test(config),
        reload: () => nginx.reload(),
        answers: () => nginx.answers(),
        ask: (question: EdgeQuestion) => nginx.ask(question),
        foreignListeners: nginx.foreignListeners,
        handshake: nginx.handshake,
        debugLogs: nginx.debugLogs,
      }),
    }
  }

  /** The same edge over the line, by a process that may be stopped. */
  #reached(process: Process, edge: Edge): Edge {
    const call =
      (method: (...given: unknown[]) => Promise<unknown>) =>
      async (...given: unknown[]): Promise<unknown> => {
        await process.awake()
        if (this.delayMs > 0) await this.#timeline.sleep(this.delayMs)
        if (this.isAway) throw new EdgeFault('away', `Edge ${this.server} does not answer.`)
        const ended = await method(...given).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        )
        await process.awake()
        if ('error' in ended) throw ended.error
        return ended.value
      }
    const { server, ...methods } = edge
    const reached = Object.entries(methods).map(([name, method]) => [name, call(method as Parameters<typeof call>[0])])
    return { server, ...Object.fromEntries(reached) } as Edge
  }
}
