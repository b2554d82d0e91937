import styles from './Keys.module.css'

const KEYS: readonly (readonly [keys: string, words: string])[] = [
  ['Ctrl K', 'Go to a host, a screen or an act by name'],
  ['?', 'Show these keys'],
  ['/', 'Search hosts; ↓ goes on to the list'],
  ['↑ ↓', 'Move through the list, also Page and Home, End'],
  ['Enter', 'Diagnose the host of the row'],
  ['x', 'Select the row'],
  ['c', 'Change the exposure of the row'],
  ['m', 'Mute the host of the row, or end its mute'],
  ['o', 'Open the host of the row'],
  ['Esc', 'Close, or empty the search'],
]

export function Keys() {
  return (
    <dl className={styles.keys}>
      {KEYS.map(([keys, words]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  )
}
