import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { HostStatus, OutOfStep } from '../model/host-status.ts'
import type { JournalEntry, JournalMark, Run } from '../model/run.ts'
import type { Clock } from '../primitives/clock.ts'
import { LoopDelay } from './loop-delay.ts'
import { addOperationGauges, type OperationSources } from './operation-gauges.ts'
import { addProcessGauges } from './process-gauges.ts'

/** Sources of the values that are read at scrape time. */
export interface MetricSources {
  readonly hosts: () => Iterable<HostStatus>
  /** The current length of each queue, by name. */
  readonly queues: Readonly<Record<string, QueueLength>>
  /** For each edge the number of hosts that are out of sync with the store, by kind of difference. */
  readonly edges: () => Iterable<MeasuredEdge>
  /** The instances on the store. Never rejects. */
  readonly instances: () => Promise<MeasuredInstances>
  readonly findRun: (runId: string) => Promise<Run | undefined>
  readonly operation: OperationSources
  readonly clock: Clock
}

type QueueLength = () => number | Promise<number>

/** What the store says of the services on it. Without an answer of the store nobody is named. */
export interface MeasuredInstances {
  readonly storeAnswers: boolean
  /** For how long nothing confirms what is read from memory. Undefined while the store answers. */
  readonly unconfirmedMs: number | undefined
  /** Those that are alive, each with the servers of the installation and whether it reaches their edges. */
  readonly alive: readonly {
    readonly name: string
    readonly address: string
    readonly version: string
    readonly reaches: Readonly<Record<string, boolean>>
  }[]
  /** Who does the work that one instance does at a time. Work that nobody does at the moment is left out. */
  readonly duties: readonly { readonly duty: string; readonly name: string }[]
}

interface MeasuredEdge {
  readonly server: string
  readonly counts: Readonly<Record<string, number>>
  /** Undefined while the edge is in step. */
  readonly outOfStep?: OutOfStep | undefined
}

/** The outcome of a step by journal mark. An intent has no outcome yet. */
const STEP_OUTCOMES: Readonly<Partial<Record<JournalMark, string>>> = {
  done: 'done',
  verdict: 'done',
  failed: 'failed',
  undone: 'undone',
  undo_failed: 'undo_failed',
}

const LOOP_DELAY_QUANTILES = [0.5, 0.99, 0.999]

/** Prometheus metrics of this instance. A name never changes its meaning, because dashboards depend on it. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #sources: MetricSources
  readonly #queues: Map<string, QueueLength>
  readonly #checks: Histogram<'outcome'>
  readonly #runs: Counter<'action' | 'outcome'>
  readonly #steps: Counter<'step' | 'outcome'>
  readonly #refusals: Counter<'code'>
  #instances: MeasuredInstances = { storeAnswers: false, unconfirmedMs: undefined, alive: [], duties: [] }

  /** It measures between its start and its stop. */
  readonly loopDelay: LoopDelay

  constructor(sources: MetricSources) {
    this.#sources = sources
    this.#queues = new Map(Object.entries(sources.queues))
    this.loopDelay = new LoopDelay(sources.clock)
    const registers = [this.#registry]
    this.#checks = new Histogram({
      name: 'drawbridge_check_duration_seconds',
      help: 'Duration of checks that were answered, by outcome.',
      labelNames: ['outcome'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    })
    this.#runs = new Counter({
      name: 'drawbridge_runs_total',
      help: 'Finished runs, by action and outcome.',
      labelNames: ['action', 'outcome'],
      registers,
    })
    this.#steps = new Counter({
      name: 'drawbridge_run_steps_total',
      help: 'Steps of runs, by name and outcome.',
      labelNames: ['step', 'outcome'],
      registers,
    })
    this.#refusals = new Counter({
      name: 'drawbridge_plan_refusals_total',
      help: 'Refused plans, by error code.',
      labelNames: ['code'],
      registers,
    })
    this.#addGauges(registers)
    this.#addInstances(registers)
    addOperationGauges(registers, sources.operation)
    addProcessGauges(registers)
  }

  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE

  /** The instances are read once for all their metrics. */
  async text(): Promise<string> {
    this.#instances = await this.#sources.instances()
    return this.#registry.metrics()
  }

  check({ lastCheck }: HostStatus): void {
    if (!lastCheck) return
    const { ok, latencyMs } = lastCheck
    // A check without an answer took the whole timeout, which is not a duration of the host.
    if (latencyMs !== null) this.#checks.observe({ outcome: ok ? 'ok' : 'failed' }, latencyMs / 1000)
  }

  /** Measures a queue of a part that was built later. */
  addQueue(name: string, length: QueueLength): void {
    this.#queues.set(name, length)
  }

  planRefused(code: string): void {
    this.#refusals.inc({ code })
  }

  /** Counts an entry of a run's journal. */
  async journal({ runId, step, mark }: JournalEntry): Promise<void> {
    const outcome = STEP_OUTCOMES[mark]
    if (step !== 'run') {
      if (outcome) this.#steps.inc({ step, outcome })
      return
    }
    const run = mark === 'done' ? await this.#sources.findRun(runId) : undefined
    if (run) this.#runs.inc({ action: run.action, outcome: run.state })
  }

  #addGauges(registers: Registry[]): void {
    const { hosts, edges, clock } = this.#sources
    const queues = this.#queues
    new Gauge({
      name: 'drawbridge_host_badge',
      help: '1 for the current badge of a host.',
      labelNames: ['host', 'badge', 'managed'],
      registers,
      collect() {
        this.reset()
        for (const { host, badge, managed } of hosts()) this.set({ host, badge, managed: String(managed) }, 1)
      },
    })
    new Gauge({
      name: 'drawbridge_host_alert',
      help: '1 for a host that is in trouble for longer than its rule allows.',
      labelNames: ['host', 'badge'],
      registers,
      collect() {
        this.reset()
        for (const { host, badge, trouble } of hosts()) if (trouble?.isAlerted) this.set({ host, badge }, 1)
      },
    })
    new Gauge({
      name: 'drawbridge_certificate_seconds_left',
      help: 'Seconds until the served certificate of a host expires.',
      labelNames: ['host'],
      registers,
      collect() {
        this.reset()
        for (const { host, fullCheck } of hosts()) {
          if (fullCheck.certificate)
            this.set({ host }, Math.round((fullCheck.certificate.notAfter - clock.now()) / 1000))
        }
      },
    })
    new Gauge({
      name: 'drawbridge_edge_out_of_step_hosts',
      help: 'Hosts out of sync with the store, by server and kind.',
      labelNames: ['server', 'kind'],
      registers,
      collect() {
        for (const { server, counts } of edges())
          for (const [kind, count] of Object.entries(counts)) this.set({ server, kind }, count)
      },
    })
    new Gauge({
      name: 'drawbridge_edge_out_of_step_seconds',
      help: 'How long an edge has not been in step with the store, by server and cause. Absent while it is in step.',
      labelNames: ['server', 'cause'],
      registers,
      collect() {
        this.reset()
        for (const { server, outOfStep } of edges())
          if (outOfStep)
            this.set({ server, cause: outOfStep.cause }, Math.round((clock.now() - outOfStep.since) / 1000))
      },
    })
    const loopDelay = this.loopDelay
    new Gauge({
      name: 'drawbridge_event_loop_delay_seconds',
      help: 'Delay of the event loop in the last one to two minutes, by quantile.',
      labelNames: ['quantile'],
      registers,
      collect() {
        for (const quantile of LOOP_DELAY_QUANTILES) this.set({ quantile }, loopDelay.quantile(quantile))
      },
    })
    new Gauge({
      name: 'drawbridge_queue_length',
      help: 'Length of queues: checks that are due, runs in progress, pending webhook deliveries, dead letters.',
      labelNames: ['queue'],
      registers,
      async collect() {
        this.reset()
        for (const [queue, length] of queues) {
          // A queue in a store that does not answer has no known length.
          const found = await Promise.resolve(length()).catch(() => undefined)
          if (found !== undefined) this.set({ queue }, found)
        }
      },
    })
  }

  #addInstances(registers: Registry[]): void {
    const found = () => this.#instances
    new Gauge({
      name: 'drawbridge_store_up',
      help: '1 while the store answers this instance, else 0.',
      registers,
      collect() {
        this.set(Number(found().storeAnswers))
      },
    })
    new Gauge({
      name: 'drawbridge_store_unconfirmed_seconds',
      help: 'How old the answers are that this instance gives from memory. 0 while the store answers.',
      registers,
      collect() {
        this.set(Math.round((found().unconfirmedMs ?? 0) / 1000))
      },
    })
    new Gauge({
      name: 'drawbridge_instance_info',
      help: '1 for each instance that is alive on the store.',
      labelNames: ['name', 'address', 'version'],
      registers,
      collect() {
        this.reset()
        for (const { name, address, version } of found().alive) this.set({ name, address, version }, 1)
      },
    })
    new Gauge({
      name: 'drawbridge_instance_edge_reached',
      help: '1 if an instance reaches the edge of a server, else 0.',
      labelNames: ['name', 'server'],
      registers,
      collect() {
        this.reset()
        for (const { name, reaches } of found().alive)
          for (const [server, isReached] of Object.entries(reaches)) this.set({ name, server }, Number(isReached))
      },
    })
    new Gauge({
      name: 'drawbridge_instance_duty_held',
      help: '1 for the instance that does a work which one instance does at a time.',
      labelNames: ['name', 'duty'],
      registers,
      collect() {
        this.reset()
        for (const { name, duty } of found().duties) this.set({ name, duty }, 1)
      },
    })
  }
}
