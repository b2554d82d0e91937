import { type CostModel, hostsOfOne } from './cost-model.ts'
import { format } from './table.ts'

const TOTALS = [100_000, 1_000_000]

/** The text of docs/scale.md. Every figure in it is measured or follows from measured ones. */
export function scalePage(models: readonly CostModel[], versions: readonly string[], at: Date): string {
  const sizes = models[0]?.measured.map(({ hosts }) => hosts) ?? []
  const most = hostsOfOne(models)
  return `# Scale

What a host costs, and how far that carries. \`npm run bench -- model\` measures it and writes this page.

Measured on ${at.toISOString().slice(0, 10)} with TLS by a wildcard certificate, two edges and a monitor that checks every host
every 30 s:

${versions.map((version) => `- ${version}`).join('\n')}

## The model
Each cost is \`fixed + n × per host\`. The line is fitted to all sizes but the largest. The largest size is a prediction: in
brackets stands what the model says.

${table(['cost', 'fixed', 'per 1,000 hosts', ...sizes.map((hosts) => `${count(hosts)} hosts`)], models.map(modelLine))}

## What breaks first
One installation is a service with its Primary and its Secondary. The limits are choices for a machine with two cores.

${table(['cost', 'limit', 'reached at'], models.toSorted((a, b) => a.mostHosts - b.mostHosts).map(limitLine))}

So one installation bears about ${count(most)} hosts.

## A million hosts
More hosts are more installations. Installations share nothing, so the cost of one does not depend on the others:

${table(
  ['hosts in all', 'installations'],
  TOTALS.map((hosts) => [count(hosts), count(Math.ceil(hosts / most))]),
)}

A zone belongs to one installation; a larger one is split by delegation. An edge belongs to one installation, because a generation is tested and loaded as
a whole. A longer \`monitor.everySeconds\` costs less and notices later. With a certificate each, the limits of the [authority](certificates.md) come first.
`
}

const table = (head: readonly string[], lines: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const count = (value: number): string => (Number.isFinite(value) ? format(value, 'count') : 'any number of')

function modelLine({ name, unit, fixed, perHost, measured }: CostModel): string[] {
  const cells = measured.map(({ value, model }, at) =>
    at === measured.length - 1 ? `${format(value, unit)} (${format(model, unit)})` : format(value, unit),
  )
  return [name, format(fixed, unit), format(1_000 * perHost, unit), ...cells]
}

const limitLine = ({ name, unit, limit, mostHosts }: CostModel): string[] => [
  name,
  format(limit, unit),
  Number.isFinite(mostHosts) ? `${count(mostHosts)} hosts` : 'does not grow',
]
