// Unpacks the script of the page and runs it.
async function load() {
  const bytes = Uint8Array.from(atob(document.getElementById("script").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = await new Response(stream).text();
  document.body.append(script);
}

if (window.DecompressionStream) {
  load();
} else {
  document.getElementById("empty").hidden = false;
  document.getElementById("empty").textContent = "This page cannot show its profile: it needs a browser of 2023 or later";
}
