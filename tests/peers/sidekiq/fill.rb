# Adds COUNT jobs, due now.
require "json"
require_relative "settings"

posts = (1..Integer(ENV.fetch("COUNT", "1000"))).map { |number| [number] }
posts.each_slice(1000) do |slice|
  Sidekiq::Client.push_bulk("class" => "Publish", "queue" => "publish", "args" => slice)
end
puts({ jobs: posts.size }.to_json)
