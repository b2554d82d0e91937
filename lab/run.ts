import { startDemo } from './demo.ts'
import { type Lab, type LabOptions, startLab } from './lab.ts'
import type { Stoppable } from './parts.ts'
import { firstSteps, tour } from './tour.ts'

export const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs a lab until a signal ends it. Rejects when the lab cannot start or its service keeps dying. */
export const runLab = ({
  demo = false,
  withTour = false,
  ...options
}: Pick<LabOptions, 'state' | 'flow' | 'place'> & {
  readonly demo?: boolean
  readonly withTour?: boolean
}): Promise<void> =>
  runUntilEnd({
    start: async ({ onProgress, onPartLost, fail }) => {
      const lab = await startLab({ ...options, onProgress, onPartLost, onServiceLost: fail })
      if (!demo) return lab
      const shown = await startDemo(lab.description).catch(async (error) => {
        await lab.stop()
        throw error
      })
      onProgress('ten exposures')
      return demonstrated(lab, shown)
    },
    readyText: ({ description, state }) =>
      [
        `Drawbridge ready at ${description.api}`,
        ...(withTour ? [tour(description, state)] : []),
        firstSteps(description, demo),
      ].join('\n'),
    endText: 'All processes of the lab are stopped.',
  })

/** A lab that ends its demonstration first. Its description is read when it is asked for: it changes with the processes. */
export const demonstrated = (
  lab: Stoppable & Pick<Lab, 'description' | 'state'>,
  shown: Stoppable,
): Stoppable & Pick<Lab, 'description' | 'state'> => ({
  state: lab.state,
  get description() {
    return lab.description
  },
  async stop() {
    await shown.stop()
    await lab.stop()
  },
})

interface Program<T> {
  readonly start: (hooks: Hooks) => Promise<T>
  readonly readyText: (running: T) => string
  readonly endText: string
}

interface Hooks {
  readonly onProgress: (part: string) => void
  readonly onPartLost: (sentence: string) => void
  /** Ends the program with this reason. */
  readonly fail: (reason: Error) => void
}

/**
 * Starts something, prints the ready text and waits for a signal. Stops it then, and after every failure: what is left running would
 * keep the process alive. Rejects if it cannot start or fails.
 */
export async function runUntilEnd<T extends Stoppable>({ start, readyText, endText }: Program<T>): Promise<void> {
  process.stdout.on('error', () => undefined) // The reader may close the pipe after the ready line.
  using end = new End()
  const startedAt = performance.now()
  const running = await start({
    onProgress: (part) => print(`  ${((performance.now() - startedAt) / 1000).toFixed(1)} s  ${part}`),
    onPartLost: print,
    fail: (reason) => end.finish(reason),
  })
  try {
    if (!end.isFinished) print(readyText(running))
    const reason = await end.finished
    if (reason) throw reason
  } finally {
    await running.stop()
  }
  print(endText)
}

/** The end of a program: a signal, or a failure, which gives a reason. The first one counts. */
class End {
  readonly finished: Promise<Error | undefined>
  isFinished = false
  #resolve: (reason: Error | undefined) => void = () => undefined
  readonly #onSignal = () => this.finish()

  constructor() {
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve
    })
    for (const signal of END_SIGNALS) process.on(signal, this.#onSignal)
  }

  [Symbol.dispose](): void {
    for (const signal of END_SIGNALS) process.off(signal, this.#onSignal)
  }

  finish(reason?: Error): void {
    this.isFinished = true
    this.#resolve(reason)
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
