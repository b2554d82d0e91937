import type { components } from './schema.ts'

export type ProblemBody = components['schemas']['Problem']

/** The service refused the request. `code` is stable. `nextAction` says in one sentence what to do next. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly retryable: boolean
  readonly nextAction: string
  /** Seconds to wait, if waiting helps. */
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

/** True if the name is taken by an exposure of this installation, which a plan with `replaces` can change. */
export const isExposedHere = ({ code, checks = [] }: Pick<ProblemBody, 'code' | 'checks'>): boolean =>
  code === 'dns_name_taken' && checks.some(({ name, by }) => name === 'dns' && by === 'exposure')

/** No server answered, or the server is not Drawbridge. */
export class Unreachable extends Error {
  constructor(baseUrl: string, cause?: unknown) {
    super(`No Drawbridge service answers at ${baseUrl}.`, { cause })
    this.name = 'Unreachable'
  }
}

export function refusalOf(body: unknown, baseUrl: string): Refusal | Unreachable {
  const { code, detail, nextAction } = (typeof body === 'object' && body !== null ? body : {}) as Partial<ProblemBody>
  const isProblem = typeof code === 'string' && typeof detail === 'string' && typeof nextAction === 'string'
  return isProblem ? new Refusal(body as ProblemBody) : new Unreachable(baseUrl)
}
