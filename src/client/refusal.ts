import type { components } from './schema.ts'

export type ProblemBody = components['schemas']['Problem']

/** The service said no. `code` is stable; `nextAction` says in one sentence what can be done about it. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly retryable: boolean
  readonly nextAction: string
  /** Seconds, where waiting helps. */
  readonly retryAfter: number | undefined
  readonly problem: ProblemBody

  constructor(problem: ProblemBody) {
    super(problem.detail)
    this.name = 'Refusal'
    this.status = problem.status
    this.code = problem.code
    this.retryable = problem.retryable
    this.nextAction = problem.nextAction
    this.retryAfter = problem.retryAfter
    this.problem = problem
  }
}

/** Nobody answered, or somebody who is not Drawbridge. */
export class Unreachable extends Error {
  constructor(baseUrl: string, cause?: unknown) {
    super(`${baseUrl} does not answer as Drawbridge does.`, { cause })
    this.name = 'Unreachable'
  }
}

export function refusalOf(body: unknown, baseUrl: string): Refusal | Unreachable {
  const { code, detail, nextAction } = (typeof body === 'object' && body !== null ? body : {}) as Partial<ProblemBody>
  const isProblem = typeof code === 'string' && typeof detail === 'string' && typeof nextAction === 'string'
  return isProblem ? new Refusal(body as ProblemBody) : new Unreachable(baseUrl)
}
