import type { ProblemBody } from '../../src/http/problem.ts'

/** The service said no, and why. */
export class Refusal extends Error {
  readonly problem: ProblemBody

  constructor(problem: ProblemBody) {
    super(problem.detail)
    this.problem = problem
  }
}

/** The service gave no answer, or one that is not its own. */
class Unreachable extends Error {
  constructor() {
    super('The service does not answer.')
  }
}

export interface Question {
  /** Sent as JSON, which makes it a POST. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

export async function ask<T>(path: string, question: Question = {}): Promise<T> {
  const answer = await send(path, question)
  return readJson<T>(answer)
}

/** The answer itself, for who needs its status or headers. Refusals are thrown. */
export async function send(path: string, { body, headers, signal }: Question): Promise<Response> {
  const sent = { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }
  const answer = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: sent,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((fault: unknown) => {
    throw signal?.aborted ? fault : new Unreachable()
  })
  if (answer.ok || answer.status === 304) return answer
  const problem = await readJson<Partial<ProblemBody>>(answer)
  throw typeof problem.code === 'string' ? new Refusal(problem as ProblemBody) : new Unreachable()
}

export const readJson = async <T>(answer: Response): Promise<T> => {
  try {
    return (await answer.json()) as T
  } catch {
    throw new Unreachable()
  }
}

export const isWorthRetrying = (fault: unknown): boolean =>
  fault instanceof Unreachable || (fault instanceof Refusal && fault.problem.status === 503)
