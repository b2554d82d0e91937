import type { StepBudget } from '../patterns/pattern.ts'
import type { RouteDirective } from './directive.ts'
import type { Route } from './route.ts'
import { walkServer } from './walk.ts'

/** The route depends on the request, on the disk or on the http block. */
export class RouteNeedsMore extends Error {}

const more = (): never => {
  throw new RouteNeedsMore()
}

/** The route of a server that depends on its own directives alone. Throws RouteNeedsMore for any other. */
export const simpleRoute = (server: readonly RouteDirective[], budget: StepBudget): Route =>
  walkServer(server, {
    budget,
    value: more,
    kindOf: more,
    get http() {
      return more()
    },
    get prefix() {
      return more()
    },
  })
