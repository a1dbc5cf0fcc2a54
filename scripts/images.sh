#!/usr/bin/env bash
# Makes the pictures of docs/images/ anew: pages by the stories' Chromium, and the output of the demo.
set -euo pipefail
cd "$(dirname "$0")/.."
pictures="$(mktemp -d)"
trap 'rm -rf "$pictures"' EXIT

TEST_STACK=embedded TEST_PICTURES="$pictures" cargo test --workspace --test stories -- \
    every_page_can_be_read_on_a_phone_and_in_the_dark drop_page
for scheme in light dark; do
    # The page is long: its beginning says enough.
    ffmpeg -loglevel error -y -i "$pictures/queues-1280-$scheme.png" -vf crop=1280:730:0:0 "docs/images/dashboard-$scheme.png"
    cp "$pictures/drop-sent-390-$scheme.png" "docs/images/drop-$scheme.png"
done

# A worker is named after its machine, which is nobody's business.
"${CARGO_TARGET_DIR:-target}/debug/fanfare" demo | sed "s/by $(hostname)-[0-9]*-[0-9a-f]*/by laptop/; s/by $(hostname)-[0-9a-f-]*/by laptop/" >"$pictures/demo.txt"
page() {
    printf '<!doctype html><meta charset="utf-8"><body style="margin:0;background:%s;color:%s"><pre style="margin:0;padding:24px;font:15px/1.5 monospace">' "$1" "$2"
    sed 's/&/\&amp;/g; s/</\&lt;/g' "$pictures/demo.txt"
    printf '</pre>'
}
lines="$(wc -l <"$pictures/demo.txt")"
for scheme in light dark; do
    if [ "$scheme" = dark ]; then page '#10151d' '#d7dee8'; else page '#f7f8fa' '#1c2330'; fi >"$pictures/demo.html"
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="1800,$((lines * 23 + 60))" \
        --screenshot="$PWD/docs/images/demo-$scheme.png" "file://$pictures/demo.html" 2>/dev/null
done
ls -l docs/images
