import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChangeOptions } from '../../src/edge/contract/change.ts'
import type { Edge } from '../../src/edge/contract/edge.ts'
import { EdgeFault } from '../../src/edge/contract/fault.ts'
import type { EdgeQuestion } from '../../src/edge/contract/visit.ts'
import { PresentGeneration } from '../../src/nginx/generations/present.ts'
import { localEdge } from '../../src/nginx/local-edge.ts'
import type { Nginx } from '../../src/nginx/process/nginx.ts'
import { SimulatedNginx } from './nginx.ts'
import { Dead, Process } from './process.ts'
import type { Timeline } from './timeline.ts'

const PORTS = { http: 80, https: 443 }

/** A machine with one nginx, its files, the agent that owns it, and the line over which services reach it. */
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
  readonly #edge: Edge

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
    this.#edge = this.#open(new Process(`agent ${server}`, timeline))
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

  /** The agent: the real engine on these files. */
  #open(process: Process): Edge {
    const { server, config, folder, address } = this
    const settings = {
      ...{ server, config, folder, address, prefix: undefined, clock: process.clock, ports: PORTS },
      ...{ binary: '/nonexistent', pidFile: '/nonexistent', errorLog: '/nonexistent', listen: [address] },
    }
    return localEdge(settings, {
      listening: async () => ({ listen: [address], ports: PORTS }),
      nginx: this.#nginxOf(process),
    })
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
        handshake: (host: string) => nginx.handshake(host),
        debugLogs: nginx.debugLogs,
      }),
    }
  }

  /** The edge over the line, by a process of the service that may be stopped or die. The agent goes on without it. */
  edgeOf(process: Process): Edge {
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
    const { server, ...methods } = this.#edge
    const sent = async ({ ensureHeld, ...options }: ChangeOptions = {}): Promise<ChangeOptions> => {
      await ensureHeld?.()
      options.assertHeld?.()
      const onCrashPoint: ChangeOptions['onCrashPoint'] = (point) => {
        try {
          options.onCrashPoint?.(point)
        } catch (error) {
          if (!(error instanceof Dead)) throw error
        }
      }
      return { ...options, onCrashPoint }
    }
    const reached = Object.entries(methods).map(([name, method]) => [name, call(method as Parameters<typeof call>[0])])
    const edge = { server, ...Object.fromEntries(reached) } as Edge
    return {
      ...edge,
      change: async (change, options) => edge.change(change, await sent(options)),
      challenge: async (challenge, options) => edge.challenge(challenge, await sent(options)),
    }
  }
}
