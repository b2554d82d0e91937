import { type ClientRequest, request } from 'node:http'
import type { TestLab } from '../lab/lab.ts'
import { until } from '../until.ts'

interface StreamedEvent {
  readonly id: string
  readonly event: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  readonly data: any
}

export interface EventStream {
  readonly events: readonly StreamedEvent[]
  readonly contentType: () => string | undefined
  /** The header `Age`. */
  readonly age: () => string | undefined
  readonly hasEnded: () => boolean
  /** Waits for an event of this name for this step. */
  seen(event: string, step: string): Promise<StreamedEvent>
  close(): void
}

/** Reads server-sent events of the lab's service from the internal network. */
export function follow(
  { description }: { readonly description: Pick<TestLab['description'], 'api' | 'callers'> },
  path: string,
  lastEventId?: string,
): EventStream {
  const { hostname, port } = new URL(description.api)
  const events: StreamedEvent[] = []
  let contentType: string | undefined
  let age: string | undefined
  let ended = false
  const asking: ClientRequest = request({
    host: hostname,
    port,
    path,
    agent: false,
    localAddress: description.callers.internal,
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  })
  const end = () => {
    ended = true
  }
  asking.on('error', end)
  asking.on('response', (response) => {
    contentType = response.headers['content-type']
    age = response.headers.age
    let rest = ''
    response.setEncoding('utf8')
    response.on('data', (part: string) => {
      const blocks = (rest + part).split('\n\n')
      rest = blocks.pop() ?? ''
      events.push(...blocks.filter((block) => block.startsWith('id: ')).map(parseEvent))
    })
    response.on('error', end)
    response.on('end', end)
  })
  asking.end()
  const find = (event: string, step: string) => events.find((one) => one.event === event && one.data.step === step)
  return {
    events,
    contentType: () => contentType,
    age: () => age,
    hasEnded: () => ended,
    async seen(event, step) {
      await until(`the event ${event} of ${step}`, () => find(event, step) !== undefined)
      return find(event, step) as StreamedEvent
    },
    close: () => asking.destroy(),
  }
}

function parseEvent(block: string): StreamedEvent {
  const [, id = '', event = '', data = ''] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? []
  return { id, event, data: JSON.parse(data) }
}
