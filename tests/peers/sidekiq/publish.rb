# The job: one call to the network. `sidekiq -r publish.rb -q publish` does it until it is stopped.
require "json"
require "net/http"
require_relative "settings"

class Publish
  include Sidekiq::Worker
  sidekiq_options queue: "publish"

  HEADERS = { "content-type" => "application/json" }.freeze
  TARGET = URI(ENV.fetch("TARGET_URL"))

  def perform(post)
    headers = HEADERS.merge("idempotency-key" => "post-#{post}")
    reply = Net::HTTP.post(TARGET, { text: "Post number #{post}" }.to_json, headers)
    raise "the platform answered #{reply.code}" unless reply.is_a?(Net::HTTPSuccess)
  end
end
