import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { Policy } from '../client/bodies.ts'
import type { FieldError } from '../model/errors.ts'
import * as take from './arguments.ts'
import { answer, badArguments, failure } from './failure.ts'

export interface Tool {
  readonly name: string
  /** True for tools that change DNS, the proxy or certificates. */
  readonly changes: boolean
  /** The entry in the list of tools, with the zones and servers of the policy if it is known. */
  list(policy: Policy | undefined): ListedTool
  /** Never rejects: a failure is a result with `isError`. */
  call(given: Readonly<Record<string, unknown>>, report: Report): Promise<CallToolResult>
}

/** Tells the caller what happens while a tool works. The text is ours: it holds a step or a badge, never text of others. */
export type Report = (message: string, total?: number) => void

interface Declared<T extends TObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Left out where the protocol takes the same: not idempotent, and in an open world. */
  readonly annotations: ListedTool['annotations']
  readonly changes?: boolean
  readonly input: T
  /** What the schema cannot say of valid arguments. Undefined: nothing is wrong. */
  readonly judge?: (given: Static<T>) => FieldError | undefined
  /** Listed in place of `input` when the policy is known. */
  readonly inputUnder?: (policy: Policy) => TObject
  readonly output: TObject
  readonly run: (given: Static<T>, report: Report) => Promise<object>
}

export function tool<T extends TObject>(declared: Declared<T>): Tool {
  const { input, judge, inputUnder, output, run, changes = false, ...listed } = declared
  const { name } = listed
  return {
    name,
    changes,
    list: (policy) => ({
      ...listed,
      inputSchema: inputSchema(policy && inputUnder ? inputUnder(policy) : input),
      outputSchema: slim(output, ['required']),
    }),
    async call(given, report) {
      const { args, errors } = take.taken(input, given)
      if (errors) return badArguments(name, errors)
      const fault = judge?.(args)
      return fault
        ? badArguments(name, [fault])
        : run(args, report).then(answer, (error) => failure(error, planIn(args)))
    },
  }
}

/** A model reads the list of tools at the start of every task. What a call is checked against as well need not stand there. */
const slim = (schema: object, without: readonly string[]) =>
  JSON.parse(
    JSON.stringify(schema, (name, value: unknown) => {
      if (without.includes(name)) return undefined
      const { minLength, ...more } = Object(value) as { minLength?: number; maxLength?: number }
      return minLength === undefined ? value : { ...more, maxLength: undefined }
    }),
  )

/** The service has judged it: only what has the form of a plan id is repeated. */
const planIn = ({ planId }: { readonly planId?: unknown }): string | undefined =>
  typeof planId === 'string' && /^plan_[0-9a-z]+$/.test(planId) ? planId : undefined

/** What a client may leave out is not required: an argument with a default. */
function inputSchema({ properties, required: _, ...schema }: TObject): ListedTool['inputSchema'] {
  const needed = Object.entries<TSchema>(properties)
    .filter(([, property]) => !Type.IsOptional(property) && !('default' in property))
    .map(([name]) => name)
  return {
    ...schema,
    type: 'object',
    properties: slim(properties, ['minItems', 'maxItems', 'additionalProperties']),
    ...(needed.length > 0 && { required: needed }),
  }
}

/** A copy without undefined members. */
export const defined = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
